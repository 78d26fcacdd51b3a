/**
 * Routes a second and p50 / p99, cold and hit, on real text; `npm run bench:smoke`, half a minute. Absolute figures
 * depend on the machine and on what else runs there: the ratios, each from one interleaved run, are what to compare.
 */
import { modelById, TransformersEmbedder } from '../src/embedding/index.ts';
import { registerAll } from './cases/routes-http.ts';
import { startBuiltService, startReference } from './child.ts';
import { type LoadResult, load, median, post } from './http-load.ts';
import { request } from './texts.ts';

const ROUNDS = 4;
const HITS_A_ROUND = 4_000;
const COLD_ALONE = 150;
const COLD_TOGETHER = 600;
const CONCURRENCY = 16;

const routeBody = (intent: string): string => JSON.stringify({ intent });
const shown = (value: number): string => value.toFixed(value < 100 ? 2 : 0);

function line(what: string, { perSecond, p50Ms, p99Ms }: LoadResult): void {
  console.log(`${what.padEnd(46)} ${shown(perSecond).padStart(8)}/s  p50 ${shown(p50Ms)} ms  p99 ${shown(p99Ms)} ms`);
}

async function embedderAlone(): Promise<{ aloneMs: number; perSecond: number }> {
  const embedder = new TransformersEmbedder({ model: modelById('zh-en-small') });
  await embedder.start();
  const times: number[] = [];
  for (let i = 0; i < COLD_ALONE; i++) {
    const start = performance.now();
    await embedder.embed([request(900_000 + i)], { kind: 'query' });
    times.push(performance.now() - start);
  }
  const start = performance.now();
  for (let i = 0; i < COLD_TOGETHER; i += 16) {
    const texts = Array.from({ length: 16 }, (_, k) => request(950_000 + i + k));
    await embedder.embed(texts, { kind: 'query' });
  }
  const perSecond = COLD_TOGETHER / ((performance.now() - start) / 1_000);
  await embedder.stop();
  return { aloneMs: median(times), perSecond };
}

const service = await startBuiltService();
const routeUrl = `${service.url}/v1/route`;
await registerAll(service.url);

const alone = await load({
  url: routeUrl,
  concurrency: 1,
  requests: COLD_ALONE,
  body: (n) => routeBody(request(100_000 + n)),
});
const together = await load({
  url: routeUrl,
  concurrency: CONCURRENCY,
  requests: COLD_TOGETHER,
  body: (n) => routeBody(request(200_000 + n)),
});

const hitBody = routeBody(request(1));
const sample = await post(routeUrl, hitBody);
const reference = await startReference(sample.text);
const hits: LoadResult[] = [];
const bare: LoadResult[] = [];
for (let round = 0; round <= ROUNDS; round++) {
  const plan = { concurrency: CONCURRENCY, requests: HITS_A_ROUND, body: () => hitBody };
  const hit = await load({ ...plan, url: routeUrl });
  const plain = await load({ ...plan, url: `${reference.url}/v1/route` });
  // The first round warms both up.
  if (round > 0) {
    hits.push(hit);
    bare.push(plain);
  }
}
await reference.stop();
await service.stop();
const embedder = await embedderAlone();

line('cold, one at a time', alone);
line(`cold, ${CONCURRENCY} at a time`, together);
line(`hit, ${CONCURRENCY} at a time (median round)`, middle(hits));
line('bare Hono route, same body and bytes', middle(bare));
console.log(
  `embedder alone: ${shown(embedder.aloneMs)} ms a text, ${shown(embedder.perSecond)} texts/s in batches of 16`,
);
console.log(`hit / bare route:                 ${shown(middle(hits).perSecond / middle(bare).perSecond)}`);
console.log(`cold p50 - one embedding:         ${shown(alone.p50Ms - embedder.aloneMs)} ms`);
console.log(`cold rate / embedder's own rate:  ${shown(together.perSecond / embedder.perSecond)}`);

function middle(results: readonly LoadResult[]): LoadResult {
  const sorted = [...results].sort((a, b) => a.perSecond - b.perSecond);
  const one = sorted[Math.floor(sorted.length / 2)];
  if (one === undefined) throw new Error('no rounds');
  return one;
}
