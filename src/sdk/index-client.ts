/** The index of meanings: its versions, and making a new one. */
import type { IndexVersionList, RebuildProgress, RebuildReply } from '../contract/index.ts';
import { AgentReachError } from '../core/index.ts';
import { readEventStream } from './event-stream.ts';
import { problemToError } from './problem-to-error.ts';
import type { ServiceConnection } from './service-connection.ts';

export interface RebuildOptions {
  readonly reason?: string | undefined;
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
  /** Default one hour: a large set with a new model embeds every text again. */
  readonly timeoutMs?: number | undefined;
  /** Stops the waiting; the rebuild itself goes on. */
  readonly signal?: AbortSignal | undefined;
}

const REBUILD_TIMEOUT_MS = 3_600_000;

export class IndexClient {
  readonly #connection: ServiceConnection;

  constructor(connection: ServiceConnection) {
    this.#connection = connection;
  }

  versions(): Promise<IndexVersionList> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'index', 'versions'] });
  }

  /** Answers when the new version serves; a call while one runs joins it. */
  rebuild(options: RebuildOptions = {}): Promise<RebuildReply> {
    const { reason, onProgress, signal } = options;
    const request = {
      method: 'POST' as const,
      path: ['v1', 'index', 'rebuild'],
      body: reason === undefined ? {} : { reason },
      timeoutMs: options.timeoutMs ?? REBUILD_TIMEOUT_MS,
      signal,
    };
    if (onProgress === undefined) return this.#connection.call(request);
    return this.#connection.stream(request, (chunks) => followRebuild(chunks, onProgress));
  }
}

async function followRebuild(
  chunks: AsyncIterable<Uint8Array>,
  onProgress: (progress: RebuildProgress) => void,
): Promise<RebuildReply> {
  for await (const { event, data } of readEventStream(chunks)) {
    const body: unknown = JSON.parse(data);
    if (event === 'progress') onProgress(body as RebuildProgress);
    else if (event === 'done') return body as RebuildReply;
    else if (event === 'error') {
      throw problemToError({ status: 500, body, retryAfter: null, asked: 'POST /v1/index/rebuild' });
    }
  }
  throw new AgentReachError('AR_ERR_UNREACHABLE', {
    detail: 'the connection ended before the rebuild did; "agent-reach index list" shows what became of it',
  });
}
