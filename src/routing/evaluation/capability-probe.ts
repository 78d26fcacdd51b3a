/**
 * Asks for every capability by its own texts: what does not come back first is out of reach, and what another one
 * answers nearly as well is a near-duplicate. Costs one route a text, at most ten a capability.
 */
import { nameAsWords } from '../../capability/index.ts';
import type { CapabilityView, Explain, NearDuplicate } from '../../contract/index.ts';
import type { CapabilityName } from '../../core/index.ts';
import { type RouteSource, routeAll, UNREACHABLE_RELEVANCE } from './route-source.ts';

const MAX_PROBES = 10;

export interface Unreachable {
  readonly capability: string;
  readonly namespace: string;
  readonly foundInstead: string;
}

export interface ProbeResult {
  readonly nearDuplicates: readonly NearDuplicate[];
  readonly unreachable: readonly Unreachable[];
}

interface Probe {
  readonly view: CapabilityView;
  readonly text: string;
  /** Two capabilities may share a phrase; they should not share what they say they are. */
  readonly isSelfDescription: boolean;
}

export async function probeCapabilities(
  source: RouteSource,
  views: readonly CapabilityView[],
  options: { readonly minSimilarity: number; readonly onDone?: (done: number, total: number) => void },
): Promise<ProbeResult> {
  const probes = views.filter((view) => view.agents > 0).flatMap(probesOf);
  const selves = new Map(views.map((view) => [keyOf(view.namespace, view.name), selfTextsOf(view)]));
  const replies = await routeAll(
    source,
    probes.map(({ view, text }) => ({
      intent: text,
      namespace: view.namespace,
      topK: 1,
      minRelevance: UNREACHABLE_RELEVANCE,
      explain: true,
    })),
    (done) => options.onDone?.(done, probes.length),
  );
  const duplicates = new Map<string, NearDuplicate>();
  const missed = new Map<CapabilityView, string>();
  const reached = new Set<CapabilityView>();
  for (const [i, { view, text, isSelfDescription }] of probes.entries()) {
    const reply = replies[i];
    const first = reply?.explain?.recall[0]?.capability ?? reply?.capability;
    if (first === view.name) reached.add(view);
    else missed.set(view, first ?? 'nothing');
    if (!isSelfDescription) continue;
    for (const found of reply?.explain?.recall ?? []) noteDuplicate(duplicates, { view, text, found, selves, options });
  }
  return {
    nearDuplicates: [...duplicates.values()].sort((a, b) => b.similarity - a.similarity),
    unreachable: [...missed].flatMap(([view, foundInstead]) =>
      // A sensitive one is not to be reached by meaning.
      reached.has(view) || view.sensitive ? [] : [{ capability: view.name, namespace: view.namespace, foundInstead }],
    ),
  };
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;
const selfTextsOf = (view: CapabilityView): Set<string> =>
  new Set([nameAsWords(view.name as CapabilityName), ...view.descriptions]);

function probesOf(view: CapabilityView): Probe[] {
  const own = [...selfTextsOf(view)].map((text) => ({ view, text, isSelfDescription: true }));
  const examples = view.examples.map((text) => ({ view, text, isSelfDescription: false }));
  return [...own, ...examples].slice(0, MAX_PROBES);
}

interface Sighting {
  readonly view: CapabilityView;
  readonly text: string;
  readonly found: Explain['recall'][number];
  readonly selves: ReadonlyMap<string, ReadonlySet<string>>;
  readonly options: { readonly minSimilarity: number };
}

/** Of a pair the nearest texts stay, under the first name of both. */
function noteDuplicate(duplicates: Map<string, NearDuplicate>, { view, text, found, selves, options }: Sighting): void {
  const { capability: other, similarity, nearestText } = found;
  if (other === view.name || similarity === null || nearestText === null || similarity < options.minSimilarity) return;
  if (!selves.get(keyOf(view.namespace, other))?.has(nearestText)) return;
  const key = [view.namespace, ...[view.name, other].sort()].join(' ');
  if ((duplicates.get(key)?.similarity ?? 0) >= similarity) return;
  const { namespace, name } = view;
  duplicates.set(
    key,
    name < other
      ? { namespace, capability: name, other, similarity, text, otherText: nearestText }
      : { namespace, capability: other, other: name, similarity, text: nearestText, otherText: text },
  );
}
