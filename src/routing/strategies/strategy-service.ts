import type { ReloadResult, StrategiesDocument, StrategiesReply } from '../../contract/index.ts';

/** What was put over the API, as it is kept. */
export interface StoredStrategies {
  readonly document: StrategiesDocument;
  readonly setBy: string;
  /** Epoch ms. */
  readonly setAt: number;
}

/** Where what was put over the API survives a restart. Errors: AR_ERR_STORE_UNAVAILABLE, AR_ERR_STORE_CONFLICT. */
export interface StrategyStore {
  load(): Promise<StoredStrategies | undefined>;
  /** null: nothing is kept any more. */
  save(stored: StoredStrategies | null): Promise<void>;
}

export interface StrategyEdit {
  readonly by: string;
  /** The version that the edit is based on; another one in force: AR_ERR_STRATEGIES_CONFLICT. */
  readonly expectedVersion?: string | undefined;
}

/** What the faces need of the strategies. */
export interface StrategyService {
  show(): StrategiesReply;
  /**
   * Puts a document over the file's, and stores it. Errors: AR_ERR_INVALID_STRATEGIES, AR_ERR_STRATEGIES_CONFLICT,
   * AR_ERR_STORE_UNAVAILABLE; nothing is changed then.
   */
  put(document: unknown, edit: StrategyEdit): Promise<StrategiesReply>;
  /** Takes away what was put, so that the file, else the config, is in force. Errors: those of `put`. */
  remove(edit: StrategyEdit): Promise<StrategiesReply>;
  /** Reads the file again. Errors: AR_ERR_NOT_FOUND where none is configured, AR_ERR_INVALID_STRATEGIES. */
  reload(why: 'asked'): Promise<ReloadResult>;
}
