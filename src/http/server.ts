/**
 * The socket side: listens, and stops so that no running request is cut while time is left. While stopping, each
 * answer closes its connection, idle connections close at once, and what still runs at the end of the grace is cut.
 */
import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { AgentReachError, type Clock, errorText, systemClock } from '../core/index.ts';
import type { HttpApp } from './app.ts';
import { PROBLEM_TYPE, problemReply } from './problem-response.ts';
import { toResponse } from './reply.ts';
import { requestIdFrom } from './request-input.ts';

/** A client that has not sent its headers by then is stalled or hostile. */
const HEADERS_TIMEOUT_MS = 10_000;
/** How often Node looks whose time is over; by default 30 s, three times what headers may take. */
const CHECKS_EVERY_MS = 1_000;
/** From the first byte to the end of the body: 1 MiB at 35 KB/s. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the 60 s of common proxies: the side that reuses a connection should be the one to close it. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

export interface ServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly clock?: Clock;
  /** For the headers; 10 s unless given. */
  readonly headersTimeoutMs?: number;
}

export interface HttpServer {
  readonly port: number;
  /** Resolves once nothing runs and nothing is open, within `graceMs`. Calling again joins the first stop. */
  stop(graceMs: number): Promise<void>;
}

/** Error: AR_ERR_INVALID_CONFIG when the address cannot be bound. */
export async function startHttpServer(app: HttpApp, options: ServerOptions): Promise<HttpServer> {
  const listener = getRequestListener(app.fetch, { hostname: options.host, errorHandler: refuseRequest });
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECKS_EVERY_MS,
    // Node would answer a missing Host itself, with an empty body.
    requireHostHeader: false,
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  const running = new RunningRequests();
  server.on('request', (request, response) => {
    running.add(response);
    if (request.headers.host === undefined && request.httpVersion === '1.1') refuse(response, 'the Host is missing');
    else void listener(request, response);
  });
  server.on('checkExpectation', (_request, response) => {
    running.add(response);
    refuse(response, 'an Expect other than 100-continue cannot be met');
  });
  server.on('clientError', refuseBytes);
  await listen(server, options);
  const clock = options.clock ?? systemClock;
  let stopped: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    stop(graceMs) {
      stopped ??= stopServer({ app, server, running, clock }, graceMs);
      return stopped;
    },
  };
}

/** Which answers are still owed, and whether their connections may go on after them. */
class RunningRequests {
  readonly #responses = new Set<ServerResponse>();
  #isStopping = false;
  #onIdle: (() => void) | undefined;

  add(response: ServerResponse): void {
    this.#responses.add(response);
    if (this.#isStopping) response.setHeader('connection', 'close');
    response.once('close', () => {
      this.#responses.delete(response);
      if (this.#responses.size === 0) this.#onIdle?.();
    });
  }

  /** Resolves when the last running answer has left. */
  drain(): Promise<void> {
    this.#isStopping = true;
    for (const response of this.#responses) if (!response.headersSent) response.setHeader('connection', 'close');
    if (this.#responses.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

interface Stopping {
  readonly app: HttpApp;
  readonly server: Server;
  readonly running: RunningRequests;
  readonly clock: Clock;
}

async function stopServer({ app, server, running, clock }: Stopping, graceMs: number): Promise<void> {
  app.beginStop();
  // Also closes the idle connections.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await new Promise<void>((resolve) => {
    const cancelGrace = clock.schedule(graceMs, resolve);
    void running.drain().then(() => {
      cancelGrace();
      resolve();
    });
  });
  server.closeAllConnections();
  await closed;
}

async function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const detail = `cannot listen on ${host}:${port}: ${errorText(cause)}`;
      reject(new AgentReachError('AR_ERR_INVALID_CONFIG', { detail, cause }));
    });
    server.listen({ host, port }, resolve);
  });
  server.removeAllListeners('error');
}

/** A request that never became one: no host, an unusable URL. */
function refuseRequest(error: unknown): Response {
  const requestId = requestIdFrom(undefined);
  const refusal = new AgentReachError('AR_ERR_INVALID_REQUEST', {
    detail: 'the request line or Host is unusable',
    cause: error,
  });
  return toResponse(problemReply(refusal, { requestId, route: 'unknown' }), requestId);
}

/** A request that the app must not see; its body is not read. */
function refuse(response: ServerResponse, detail: string): void {
  const requestId = requestIdFrom(undefined);
  const refusal = new AgentReachError('AR_ERR_INVALID_REQUEST', { detail });
  const { status, body } = problemReply(refusal, { requestId, route: 'unknown' });
  response.writeHead(status, { 'content-type': PROBLEM_TYPE, 'x-request-id': requestId, connection: 'close' });
  response.end(typeof body === 'string' ? body : '');
}

/** Bytes that are not HTTP, headers over 16 KiB, or a request that took too long: one problem, then the end. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = requestIdFrom(undefined);
  const refusal = refusalOf(error);
  const { status, body, contentType } = problemReply(refusal, { requestId, route: 'unknown' });
  const text = typeof body === 'string' ? body : '';
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${contentType}`,
    `content-length: ${Buffer.byteLength(text)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

function refusalOf(cause: NodeJS.ErrnoException): AgentReachError {
  if (cause.code === 'HPE_HEADER_OVERFLOW') {
    return new AgentReachError('AR_ERR_HEADERS_TOO_LARGE', { detail: 'the headers are over 16 KiB', cause });
  }
  if (cause.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new AgentReachError('AR_ERR_REQUEST_TIMEOUT', { cause });
  return new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: 'this is not a well-formed HTTP request', cause });
}
