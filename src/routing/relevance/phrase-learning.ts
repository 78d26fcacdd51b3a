/**
 * What the phrases of one namespace teach: a head, how its evidence is weighed, what is asked of a capability. Each is
 * used only where it wins on phrases that it had not seen. Takes seconds where phrases are many, so it runs in a thread.
 */
import { askHeldOut } from './held-out-evidence.ts';
import { learnOwnRanking, type OwnRankingScore } from './own-ranking.ts';
import {
  crossValidate,
  type HeldOutScore,
  type PhraseHead,
  type PhraseHeadWeights,
  trainPhraseHead,
} from './phrase-head.ts';
import { learnThresholds } from './phrase-thresholds.ts';
import type { TrainingTask } from './training-parts.ts';

export interface TrainedHead {
  readonly score: HeldOutScore;
  /** Absent where the head did not win over the nearest phrases, or where training would take too long. */
  readonly weights?: PhraseHeadWeights | undefined;
  /** Of the ranking weights in `weights`; absent where none could be learnt. */
  readonly rankingScore?: OwnRankingScore | undefined;
  /** Multiples of `minRelevance` by capability. */
  readonly thresholds?: Readonly<Record<string, number>> | undefined;
}

export function learnFromPhrases({ classes, registry }: TrainingTask): TrainedHead {
  const heads: PhraseHead[] = [];
  const score = crossValidate(classes, undefined, (head) => heads.push(head));
  const isUsed = score.head > score.nearest;
  const weights = isUsed ? trainPhraseHead(classes) : undefined;
  if (registry === undefined) return { score, weights };
  const phrases = askHeldOut(registry, (fold) => (isUsed ? heads[fold] : undefined));
  const own = learnOwnRanking(phrases, registry.calibration);
  return {
    score,
    weights: weights === undefined ? undefined : { ...weights, ranking: own?.ranking },
    rankingScore: own?.score,
    thresholds: learnThresholds(phrases, registry.calibration, (fold) => own?.ofFolds?.[fold]),
  };
}
