/** Trains one head in its own thread and ends: takes the parts of a `TrainingTask`, posts one `TrainedHead`. */
import { parentPort } from 'node:worker_threads';
import {
  crossValidate,
  type HeldOutScore,
  type PhraseHead,
  type PhraseHeadWeights,
  trainPhraseHead,
} from './phrase-head.ts';
import { learnThresholds } from './phrase-thresholds.ts';
import { type TrainingPart, type TrainingTask, TrainingTaskReader } from './training-parts.ts';

export interface TrainedHead {
  readonly score: HeldOutScore;
  /** Absent where the head did not win over the nearest phrases, or where training would take too long. */
  readonly weights?: PhraseHeadWeights | undefined;
  /** Multiples of `minRelevance` by capability. */
  readonly thresholds?: Readonly<Record<string, number>> | undefined;
}

const reader = new TrainingTaskReader();
parentPort?.on('message', (part: TrainingPart) => {
  const task = reader.read(part);
  if (task === undefined) return;
  parentPort?.postMessage(trained(task));
  parentPort?.close();
});

function trained({ classes, thresholds: task }: TrainingTask): TrainedHead {
  const heads: PhraseHead[] = [];
  const score = crossValidate(classes, undefined, (head) => heads.push(head));
  const isUsed = score.head > score.nearest;
  const weights = isUsed ? trainPhraseHead(classes) : undefined;
  const thresholds =
    task === undefined ? undefined : learnThresholds(task, (fold) => (isUsed ? heads[fold] : undefined));
  return { score, weights, thresholds };
}
