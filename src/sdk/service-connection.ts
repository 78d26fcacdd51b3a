/**
 * One HTTP call to the service: JSON out, JSON in, one deadline for connecting, waiting and reading. Whatever goes
 * wrong is thrown as an AgentReachError; nothing is retried here.
 */
import { AgentReachError, type Clock, errorText, isWellFormedText, systemClock } from '../core/index.ts';
import { CallLimits } from './call-limits.ts';
import { readEventStream } from './event-stream.ts';
import { problemToError } from './problem-to-error.ts';

export interface ConnectionOptions {
  /** Default http://127.0.0.1:7420. */
  readonly baseUrl?: string | undefined;
  /** Sent as a bearer token; leave out where the service asks for none. */
  readonly apiKey?: string | undefined;
  /** For a whole call; default 30,000. 0 waits for ever. */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

export type QueryValue = string | number | boolean | undefined;

export interface CallRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments, each encoded by the connection. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number | undefined;
  /** Longest time between two pieces of an event stream. */
  readonly silenceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Statuses beside 2xx whose body is an answer, not a problem. */
  readonly answers?: readonly number[];
}

export interface ServiceEvent {
  readonly event: string;
  /** Parsed; undefined where only the place in the stream has moved. */
  readonly body: unknown;
  readonly id: string | undefined;
}

export const DEFAULT_BASE_URL = 'http://127.0.0.1:7420';
const DEFAULT_TIMEOUT_MS = 30_000;

export class ServiceConnection {
  readonly baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #clock: Clock;

  constructor(options: ConnectionOptions = {}) {
    this.baseUrl = readBaseUrl(options.baseUrl ?? DEFAULT_BASE_URL);
    this.#timeoutMs = readTimeoutMs(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    this.#clock = options.clock ?? systemClock;
    const { apiKey } = options;
    if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new AgentReachError('AR_ERR_INVALID_CONFIG', {
        detail: 'apiKey must be printable ASCII without spaces',
        issues: [{ path: 'apiKey', message: 'must be printable ASCII without spaces' }],
      });
    }
    this.#headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  }

  /** The answer's JSON; undefined where it has no body. */
  async call<Answer>(request: CallRequest): Promise<Answer> {
    return this.#within(request, async (signal) => {
      const response = await this.#send(request, 'application/json', signal);
      return (await this.#read(request, response)) as Answer;
    });
  }

  /** An answer that is a text of this media type. */
  async text(request: CallRequest, mediaType: string): Promise<string> {
    return this.#within(request, async (signal) => {
      const response = await this.#send(request, mediaType, signal);
      if (response.ok && (response.headers.get('content-type') ?? '').startsWith(mediaType)) return response.text();
      await this.#read(request, response);
      throw new AgentReachError('AR_ERR_FOREIGN_REPLY', { detail: `${this.#asked(request)} sent no ${mediaType}` });
    });
  }

  /**
   * The events of an answer that comes bit by bit, within the deadline. What whoever reads them throws stays as it is
   * and ends the call.
   */
  async *events(request: CallRequest): AsyncGenerator<ServiceEvent, void, void> {
    const limits = this.#limits(request);
    try {
      const response = await this.#send(request, 'text/event-stream', limits.signal);
      if (!isEventStream(response)) {
        await this.#read(request, response);
        throw new AgentReachError('AR_ERR_FOREIGN_REPLY', { detail: `${this.#asked(request)} sent no event stream` });
      }
      for await (const { event, data, id } of readEventStream(limits.heard(response.body))) {
        yield { event, body: data === undefined ? undefined : (JSON.parse(data) as unknown), id };
      }
    } catch (error) {
      throw this.#failure(request, limits, error);
    } finally {
      limits.release();
    }
  }

  async #within<Result>(request: CallRequest, run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const limits = this.#limits(request);
    try {
      return await run(limits.signal);
    } catch (error) {
      throw this.#failure(request, limits, error);
    } finally {
      limits.release();
    }
  }

  #limits({ timeoutMs, silenceMs, signal }: CallRequest): CallLimits {
    return new CallLimits(this.#clock, { timeoutMs: readTimeoutMs(timeoutMs ?? this.#timeoutMs), silenceMs, signal });
  }

  /** Says which of the limits it was, or what else. */
  #failure(request: CallRequest, { reached }: CallLimits, cause: unknown): AgentReachError {
    if (cause instanceof AgentReachError) return cause;
    if (reached !== undefined) {
      return new AgentReachError('AR_ERR_DEADLINE', { detail: `${this.#asked(request)} ${reached}`, cause });
    }
    if (request.signal?.aborted === true) {
      return new AgentReachError('AR_ERR_ABORTED', {
        detail: `${this.#asked(request)} was ended by its caller`,
        cause,
      });
    }
    if (cause instanceof SyntaxError) {
      const detail = `${this.#asked(request)} was answered with broken JSON; is this an Agent-Reach service?`;
      return new AgentReachError('AR_ERR_FOREIGN_REPLY', { detail, cause });
    }
    return this.#unreachableError(cause);
  }

  async #send(request: CallRequest, accept: string, signal: AbortSignal): Promise<Response> {
    const hasBody = request.body !== undefined;
    return fetch(this.#urlOf(request), {
      method: request.method,
      headers: {
        accept,
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...this.#headers,
        ...request.headers,
      },
      // A redirect would carry the key elsewhere; the service itself sends none under /v1.
      redirect: 'manual',
      signal,
      ...(hasBody ? { body: encodeBody(request.body) } : {}),
    });
  }

  async #read(request: CallRequest, response: Response): Promise<unknown> {
    const text = await response.text();
    const body = parseBody(text);
    if (!response.ok && request.answers?.includes(response.status) !== true) {
      throw problemToError({
        status: response.status,
        body,
        retryAfter: response.headers.get('retry-after'),
        asked: this.#asked(request),
      });
    }
    if (text !== '' && (typeof body !== 'object' || body === null || Array.isArray(body))) {
      throw new AgentReachError('AR_ERR_FOREIGN_REPLY', {
        detail: `${this.#asked(request)} was answered with no JSON object; is this an Agent-Reach service?`,
      });
    }
    return body;
  }

  #urlOf(request: CallRequest): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) query.set(name, String(value));
    }
    const path = request.path.map(encodeSegment).join('/');
    return `${this.baseUrl}/${path}${query.size === 0 ? '' : `?${query}`}`;
  }

  #asked(request: CallRequest): string {
    return `${request.method} ${this.baseUrl}/${request.path.join('/')}`;
  }

  #unreachableError(cause: unknown): AgentReachError {
    return new AgentReachError('AR_ERR_UNREACHABLE', {
      detail: `nothing answers at ${this.baseUrl} (${reasonOf(cause)}); start the service with "agent-reach serve", or give the address it listens on`,
      cause,
    });
  }
}

/** `.` and `..` would be folded away by the URL and meet another address, as an empty name would. */
function encodeSegment(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..' || !isWellFormedText(segment)) {
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: `${JSON.stringify(segment)} is not a usable name` });
  }
  return encodeURIComponent(segment);
}

function encodeBody(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
      detail: `the request cannot be written as JSON: ${errorText(error).split('\n', 1)[0]}`,
      cause: error,
    });
  }
}

/** fetch hides the socket's own error in `cause`. */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (inner instanceof Error && 'code' in inner && typeof inner.code === 'string') return inner.code;
  return errorText(inner);
}

function isEventStream(
  response: Response,
): response is Response & { readonly body: NonNullable<Response['body']> & AsyncIterable<Uint8Array> } {
  return (
    response.ok &&
    response.body !== null &&
    (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  );
}

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function readBaseUrl(text: string): string {
  const refuse = (reason: string): never => {
    throw new AgentReachError('AR_ERR_INVALID_CONFIG', {
      detail: `the address of the service ${reason}`,
      issues: [{ path: 'baseUrl', message: reason }],
    });
  };
  if (!URL.canParse(text)) return refuse(`must be a URL such as ${DEFAULT_BASE_URL}, got "${text.slice(0, 200)}"`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refuse('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') return refuse('must hold no user or password; use the API key');
  if (url.search !== '' || url.hash !== '') return refuse('must end with its path, without ? or #');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function readTimeoutMs(timeoutMs: number): number {
  if (Number.isInteger(timeoutMs) && timeoutMs >= 0 && timeoutMs <= 2_147_483_647) return timeoutMs;
  throw new AgentReachError('AR_ERR_INVALID_CONFIG', {
    detail: `timeoutMs must be a whole number of milliseconds, got ${timeoutMs}`,
    issues: [{ path: 'timeoutMs', message: 'must be a whole number, 0 or more' }],
  });
}
