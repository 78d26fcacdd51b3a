# Build: needs a compiler for hnswlib-node; nothing of it reaches the image that runs.
FROM node:20-bookworm-slim AS build
# The headers of Node lie in its prefix: nothing is downloaded for the compile.
ENV npm_config_nodedir=/usr/local
RUN apt-get update && apt-get install -y --no-install-recommends python3 make g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=7420 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY models ./models
RUN ln -s /app/dist/cli/main.js /usr/local/bin/agent-reach && chmod +x /app/dist/cli/main.js \
  && mkdir -p /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 7420
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 7420) + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/cli/main.js", "serve"]
