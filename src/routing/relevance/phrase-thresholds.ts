/**
 * How relevant an intent must be before a capability with phrases is answered: learnt from its phrases, each asked of
 * a registry that has not seen it. One whose phrases all come back surely asks for more than `minRelevance`, so that
 * strangers are refused; one whose phrases come back weakly asks for less, where that lets no phrase of another in.
 * Pure.
 */
import type { ModelCalibration, RankingWeights } from '../../embedding/index.ts';
import { USUAL_MIN_RELEVANCE } from '../gate.ts';
import { relevancesIn } from './fusion.ts';
import type { HeldOutPhrase } from './held-out-evidence.ts';

/** Relevances with which held-out phrases came back, by the capability that came back. */
export interface HeldOutRelevances {
  readonly own: number[];
  readonly foreign: number[];
}

/** What is learnt is a multiple of the usual minimum. */
const LEAST = (2 / 3) * USUAL_MIN_RELEVANCE;
const MOST = (5 / 3) * USUAL_MIN_RELEVANCE;
/** Of the least relevance of its own phrases: callers say it in other words than the phrases. */
const ALLOWANCE = 0.7;
const MIN_OWN = 4;

/** Multiples of `minRelevance` by name; absent: as it is. `rankingOf`: own weights, learnt without the phrases of a fold. */
export function learnThresholds(
  phrases: readonly HeldOutPhrase[],
  calibration: ModelCalibration,
  rankingOf: (fold: number) => RankingWeights | undefined,
): Record<string, number> {
  const found = new Map<string, HeldOutRelevances>();
  for (const { name, fold, field } of phrases) {
    const relevances = relevancesIn(field, calibration, rankingOf(fold));
    const most = Math.max(...relevances);
    const best = field.candidates[relevances.indexOf(most)]?.entry.name;
    if (best === undefined) continue;
    const of = found.get(best) ?? { own: [], foreign: [] };
    found.set(best, of);
    (best === name ? of.own : of.foreign).push(most);
  }
  return Object.fromEntries(
    [...found].flatMap(([name, relevances]) => {
      const factor = thresholdFactor(relevances);
      return factor === 1 ? [] : [[name, factor]];
    }),
  );
}

export function thresholdFactor({ own, foreign }: HeldOutRelevances): number {
  if (own.length < MIN_OWN) return 1;
  const least = Math.min(...own);
  if (least < USUAL_MIN_RELEVANCE) {
    const lowered = Math.max(LEAST, least);
    return foreign.some((one) => one >= lowered && one < USUAL_MIN_RELEVANCE) ? 1 : lowered / USUAL_MIN_RELEVANCE;
  }
  return Math.max(1, Math.min(MOST, ALLOWANCE * least) / USUAL_MIN_RELEVANCE);
}
