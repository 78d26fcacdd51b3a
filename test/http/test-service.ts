/** A real server on a free port of 127.0.0.1 over stand-in services, and a client that speaks to it. */
import { onTestFinished } from 'vitest';
import type { Problem } from '../../src/contract/index.ts';
import { ManualClock } from '../../src/core/index.ts';
import {
  createHttpApp,
  type HttpApp,
  type HttpOptions,
  type HttpServer,
  startHttpServer,
} from '../../src/http/index.ts';
import { createStandIn, type StandInServices } from './stand-in-services.ts';

export interface TestService {
  readonly services: StandInServices;
  readonly app: HttpApp;
  readonly server: HttpServer;
  /** Of the server's grace only. */
  readonly clock: ManualClock;
  readonly base: string;
  send(method: string, path: string, request?: SentRequest): Promise<Answer>;
}

export interface SentRequest {
  /** A string or bytes go as they are; anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed; undefined where it is no JSON. */
  readonly json: unknown;
}

export async function startTestService(options: Partial<HttpOptions> = {}): Promise<TestService> {
  const services = createStandIn();
  const clock = new ManualClock();
  const app = createHttpApp(services, { host: '127.0.0.1', apiKeys: [], ...options });
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0, clock });
  onTestFinished(async () => {
    const stopped = server.stop(0);
    clock.advance(0);
    await stopped;
  });
  const base = `http://127.0.0.1:${server.port}`;
  return { services, app, server, clock, base, send: (method, path, request) => send(base + path, method, request) };
}

async function send(url: string, method: string, { body, headers = {} }: SentRequest = {}): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

export function problemOf(answer: Answer): Problem {
  return answer.json as Problem;
}
