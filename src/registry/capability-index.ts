import type { CapabilityMeaning } from '../capability/index.ts';
import type { Warning } from '../contract/index.ts';

/**
 * The search side of a registration, implemented by routing. A registration first `prepare`s (slow: embeds texts
 * that are new, stores their vectors), then commits to the store, then `apply`s (synchronous): from that moment the
 * capability is found.
 */
export interface CapabilityIndex {
  /**
   * Answers near-duplicate and embedding warnings. While the model is down it resolves with a warning and the
   * capability is found lexically until the model heals. Error: AR_ERR_OVERLOADED when the embedder's queue is full.
   */
  prepare(meanings: readonly CapabilityMeaning[]): Promise<Warning[]>;
  /** Makes these meanings the current ones. Needs no `prepare`: missing vectors are embedded in the background. */
  apply(meanings: readonly CapabilityMeaning[]): void;
  /** Forgets a capability: nobody is registered for it any more. */
  remove(namespace: string, name: string): void;
}
