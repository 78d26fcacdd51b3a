/** A small HTTP server that answers what a test hands it, and remembers what it was asked. */
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface StandIn {
  readonly url: string;
  readonly seen: SeenRequest[];
  stop(): Promise<void>;
}

export type Answer = (request: SeenRequest) => Response | Promise<Response>;

/** Answers by `METHOD /path`; anything else gets a 404 problem. */
export async function startStandIn(answers: Readonly<Record<string, Answer>>): Promise<StandIn> {
  const seen: SeenRequest[] = [];
  const app = new Hono();
  app.all('*', async (context) => {
    const url = new URL(context.req.url);
    const text = await context.req.text();
    const request: SeenRequest = {
      method: context.req.method,
      target: url.pathname + url.search,
      headers: context.req.header(),
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
    seen.push(request);
    const answer = answers[`${request.method} ${url.pathname}`];
    return answer === undefined ? problem('AR_ERR_NOT_FOUND', 404, 'nothing here') : answer(request);
  });
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
  await new Promise<void>((resolve) => server.once('listening', () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

export const json = (value: unknown, status = 200): Response => Response.json(value, { status });

export function problem(
  code: string,
  status: number,
  detail: string,
  more: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = {
    type: `urn:agent-reach:error:${code}`,
    title: 'A title.',
    status,
    detail,
    code,
    requestId: 'req_1',
    retryable: false,
    issues: [],
    ...more,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}

/** One event stream, sent in chunks cut where the test says. */
export function eventStream(chunks: readonly string[]): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
