import type {
  GoldenLine,
  GoldenLineInput,
  GoldenPutReply,
  IndexDiff,
  IndexVersion,
  IndexVersionList,
  RebuildProgress,
  RollbackReply,
  RouteReply,
  RouteRequest,
  VerifyReply,
} from '../contract/index.ts';

/** Who asks: the scopes of the API key (`*` = all). */
export interface Caller {
  readonly requestId: string;
  readonly scopes: ReadonlySet<string>;
  /** Id of the API key, for the audit log; absent: this process itself. */
  readonly keyId?: string;
}

/** What the faces need of routing. */
export interface RoutingService {
  /**
   * Errors: AR_ERR_INVALID_INTENT (no words, or too many), AR_ERR_INVALID_CAPABILITY, AR_ERR_OVERLOADED. Everything else is a
   * decision.
   */
  route(request: RouteRequest, caller: Caller): Promise<RouteReply>;
  /** Results in the order of the requests; one bad request fails the batch with its place in `issues`. */
  routeBatch(requests: readonly RouteRequest[], caller: Caller): Promise<RouteReply[]>;
}

export interface VerifyRequest {
  /** The serving one unless given. */
  readonly version?: string | undefined;
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
}

/** What the faces need of the index. */
export interface IndexService {
  readonly currentVersion: string;
  /** Newest first. */
  versions(): Promise<IndexVersionList>;
  /**
   * A second call while one runs joins it. Errors: AR_ERR_INDEX_SELF_CHECK (its issues name the lines that failed),
   * AR_ERR_STORE_UNAVAILABLE, AR_ERR_MODEL_UNUSABLE, AR_ERR_INDEX_OVERTAKEN when a rollback does,
   * AR_ERR_INDEX_CORRUPT where another instance built a version that cannot be made here.
   */
  rebuild(request: {
    by: string;
    why: string;
    onProgress?: (progress: RebuildProgress) => void;
  }): Promise<IndexVersion>;
  /**
   * Puts a kept version to work and brings its answers back: its vectors, and the texts it was built from for every
   * capability whose agents do not change theirs. Holds until a rebuild is asked for. Errors: AR_ERR_NOT_FOUND,
   * AR_ERR_INDEX_CORRUPT, AR_ERR_INDEX_NO_CATALOGUE, AR_ERR_STORE_UNAVAILABLE, AR_ERR_INDEX_OVERTAKEN when
   * another instance publishes meanwhile; nothing is changed then.
   */
  rollback(request: { readonly version: string; readonly by: string }): Promise<RollbackReply>;
  /** Reads a version from the own disk again and tries it; changes nothing. Error: AR_ERR_NOT_FOUND. */
  verify(request: VerifyRequest): Promise<VerifyReply>;
  /** Errors: AR_ERR_NOT_FOUND, AR_ERR_INDEX_CORRUPT, AR_ERR_INDEX_NO_CATALOGUE. */
  diff(request: { readonly from: string; readonly to: string }): Promise<IndexDiff>;
}

/** What the faces need of the golden set. */
export interface GoldenService {
  /** By id. */
  list(): GoldenLine[];
  /** All or nothing. Errors: AR_ERR_INVALID_INTENT, AR_ERR_INVALID_CAPABILITY, AR_ERR_INVALID_REQUEST. */
  put(lines: readonly GoldenLineInput[]): Promise<GoldenPutReply>;
  /** Error: AR_ERR_NOT_FOUND. */
  remove(id: string): Promise<void>;
}
