import type { IndexVersion, RebuildProgress, RouteReply, RouteRequest } from '../contract/index.ts';

/** Who asks: the scopes of the API key (`*` = all). */
export interface Caller {
  readonly requestId: string;
  readonly scopes: ReadonlySet<string>;
}

/** What the faces need of routing. */
export interface RoutingService {
  /**
   * Errors: AR_ERR_INVALID_INTENT (no words), AR_ERR_INVALID_CAPABILITY, AR_ERR_OVERLOADED. Everything else is a
   * decision.
   */
  route(request: RouteRequest, caller: Caller): Promise<RouteReply>;
  /** Results in the order of the requests; one bad request fails the batch with its place in `issues`. */
  routeBatch(requests: readonly RouteRequest[], caller: Caller): Promise<RouteReply[]>;
}

/** What the faces need of the index. */
export interface IndexService {
  readonly currentVersion: string;
  /** Newest first. */
  versions(): Promise<{ current: string; delta: number; items: IndexVersion[] }>;
  /** A second call while one runs joins it. Errors: AR_ERR_INDEX_SELF_CHECK, AR_ERR_STORE_UNAVAILABLE. */
  rebuild(request: {
    by: string;
    why: string;
    onProgress?: (progress: RebuildProgress) => void;
  }): Promise<IndexVersion>;
}
