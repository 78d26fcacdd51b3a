import type { CapabilityName } from '../core/index.ts';

/**
 * Everything said of one capability name in one namespace: the union of what its registered agents and the
 * dictionary say, each list sorted and without repeats, so that the order of registration changes nothing.
 */
export interface CapabilityMeaning {
  readonly namespace: string;
  readonly name: CapabilityName;
  readonly descriptions: readonly string[];
  readonly aliases: readonly string[];
  readonly examples: readonly string[];
  /** Reached by a rule or by its exact name only. */
  readonly sensitive: boolean;
}
