/** The index of meanings: its versions, making, checking and comparing them, and the golden set. */
import type {
  GoldenLine,
  GoldenLineInput,
  GoldenList,
  GoldenPutReply,
  IndexDiff,
  IndexVersionList,
  RebuildProgress,
  RebuildReply,
  RollbackReply,
  VerifyReply,
} from '../contract/index.ts';
import { AgentReachError } from '../core/index.ts';
import { problemToError } from './problem-to-error.ts';
import type { ServiceConnection } from './service-connection.ts';

interface WorkOptions {
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
  /** Default one hour: a large set with a new model embeds every text again. */
  readonly timeoutMs?: number | undefined;
  /** Stops the waiting; the work itself goes on. */
  readonly signal?: AbortSignal | undefined;
}

export interface RebuildOptions extends WorkOptions {
  readonly reason?: string | undefined;
}

export interface VerifyOptions extends WorkOptions {
  readonly version?: string | undefined;
}

const WORK_TIMEOUT_MS = 3_600_000;

export class IndexClient {
  readonly #connection: ServiceConnection;

  constructor(connection: ServiceConnection) {
    this.#connection = connection;
  }

  versions(): Promise<IndexVersionList> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'index', 'versions'] });
  }

  /** Answers when the new version serves; a call while one runs joins it. */
  rebuild({ reason, ...options }: RebuildOptions = {}): Promise<RebuildReply> {
    return this.#work('rebuild', reason === undefined ? {} : { reason }, options);
  }

  /** Puts a kept version to work again, and its texts, until a rebuild is asked for. */
  rollback(version: string): Promise<RollbackReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'index', 'rollback'], body: { version } });
  }

  /** Tries a version on the disk again, the serving one unless named; changes nothing. */
  verify({ version, ...options }: VerifyOptions = {}): Promise<VerifyReply> {
    return this.#work('verify', version === undefined ? {} : { version }, options);
  }

  diff(from: string, to: string): Promise<IndexDiff> {
    return this.#connection.call({ method: 'GET', path: ['v1', 'index', 'diff'], query: { from, to } });
  }

  async golden(): Promise<GoldenLine[]> {
    const list = await this.#connection.call<GoldenList>({ method: 'GET', path: ['v1', 'index', 'golden'] });
    return list.items;
  }

  putGolden(lines: readonly GoldenLineInput[]): Promise<GoldenPutReply> {
    return this.#connection.call({ method: 'POST', path: ['v1', 'index', 'golden'], body: { lines } });
  }

  removeGolden(id: string): Promise<void> {
    return this.#connection.call({ method: 'DELETE', path: ['v1', 'index', 'golden', id] });
  }

  async #work<Answer>(what: 'rebuild' | 'verify', body: object, options: WorkOptions): Promise<Answer> {
    const { onProgress, signal, timeoutMs = WORK_TIMEOUT_MS } = options;
    const request = { method: 'POST' as const, path: ['v1', 'index', what], body, timeoutMs, signal };
    if (onProgress === undefined) return this.#connection.call(request);
    for await (const { event, body: told } of this.#connection.events(request)) {
      if (event === 'progress') onProgress(told as RebuildProgress);
      else if (event === 'done') return told as Answer;
      else if (event === 'error') {
        throw problemToError({ status: 500, body: told, retryAfter: null, asked: `POST /v1/index/${what}` });
      }
    }
    throw new AgentReachError('AR_ERR_UNREACHABLE', {
      detail: `the connection ended before the ${what} did; "agent-reach index list" shows what became of it`,
    });
  }
}
