import type { CapabilityName } from '../core/index.ts';
import type { RuleDecision } from '../rules/index.ts';
import { type IntentReading, readIntent } from './intent-reading.ts';
import type { RecallResult } from './recall.ts';
import type { Loaded } from './route-cache.ts';
import type { Searchable } from './search-view.ts';

/** What an intent means, before anybody looks at agents: the outcome of steps 2 to 4, and what the cache holds. */
export type Meaning =
  | { readonly kind: 'denied'; readonly ruleId: string }
  | {
      readonly kind: 'named';
      readonly name: CapabilityName;
      readonly matchedBy: 'rule' | 'exact';
      readonly ruleId: string | null;
      readonly requireScope: string | null;
    }
  | ({ readonly kind: 'recalled' } & IntentReading);

export interface MeaningSources {
  /** What the rules say of it. */
  readonly decide: (canonical: string) => RuleDecision | undefined;
  readonly indexer: Searchable;
  readonly recall: (namespace: string, canonical: string) => Promise<RecallResult>;
  readonly options: { readonly multiIntent: boolean };
}

/** Steps 2 (rules), 3 (exact names) and 4 (recall, as the text reads), the first that decides. */
export async function meaningOf(
  namespace: string,
  canonical: string,
  sources: MeaningSources,
): Promise<Loaded<Meaning>> {
  const decided = sources.decide(canonical);
  if (decided !== undefined) {
    const { capability: name, requireScope } = decided;
    const ruleId = decided.rule.id;
    if (name === null) return { value: { kind: 'denied', ruleId }, cacheable: true };
    const cacheable = !isSensitive(sources.indexer, namespace, name);
    return { value: { kind: 'named', name, matchedBy: 'rule', ruleId, requireScope }, cacheable };
  }
  const named = sources.indexer.space(namespace)?.named(canonical);
  // A sensitive capability is reached by its exact name, not by an alias: aliases are words that people say.
  if (named !== undefined && (named.by === 'name' || !named.entry.sensitive)) {
    const { name, sensitive } = named.entry;
    return {
      value: { kind: 'named', name, matchedBy: 'exact', ruleId: null, requireScope: null },
      cacheable: !sensitive,
    };
  }
  const reading = await readIntent(canonical, (text) => sources.recall(namespace, text), sources.options);
  const recalls = [reading.recall, ...reading.parts.map(({ recall }) => recall)];
  const isNearSensitive = recalls.some(({ capabilities }) => capabilities[0]?.sensitive === true);
  return { value: { kind: 'recalled', ...reading }, cacheable: reading.isWhole && !isNearSensitive };
}

export function isSensitive(indexer: Searchable, namespace: string, name: string): boolean {
  return indexer.space(namespace)?.get(name)?.sensitive ?? false;
}
