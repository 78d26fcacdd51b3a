/** Trains one head in its own thread and ends: takes a `TrainingTask` as worker data, posts one `TrainedHead`. */
import { parentPort, workerData } from 'node:worker_threads';
import {
  crossValidate,
  type HeldOutScore,
  type PhraseClass,
  type PhraseHead,
  type PhraseHeadWeights,
  trainPhraseHead,
} from './phrase-head.ts';
import { learnThresholds, type ThresholdTask } from './phrase-thresholds.ts';

export interface TrainingTask {
  readonly classes: readonly PhraseClass[];
  /** Absent: no thresholds are learnt. */
  readonly thresholds?: ThresholdTask | undefined;
}

export interface TrainedHead {
  readonly score: HeldOutScore;
  /** Absent where the head did not win over the nearest phrases, or where training would take too long. */
  readonly weights?: PhraseHeadWeights | undefined;
  /** Multiples of `minRelevance` by capability. */
  readonly thresholds?: Readonly<Record<string, number>> | undefined;
}

const { classes, thresholds: task } = workerData as TrainingTask;
const heads: PhraseHead[] = [];
const score = crossValidate(classes, undefined, (head) => heads.push(head));
const isUsed = score.head > score.nearest;
const weights = isUsed ? trainPhraseHead(classes) : undefined;
const thresholds = task === undefined ? undefined : learnThresholds(task, (fold) => (isUsed ? heads[fold] : undefined));
parentPort?.postMessage({ score, weights, thresholds } satisfies TrainedHead);
