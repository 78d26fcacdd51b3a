/** Trains one head in its own thread and ends: takes the classes as worker data, posts one `TrainedHead`. */
import { parentPort, workerData } from 'node:worker_threads';
import {
  crossValidate,
  type HeldOutScore,
  type PhraseClass,
  type PhraseHeadWeights,
  trainPhraseHead,
} from './phrase-head.ts';

export interface TrainedHead {
  readonly score: HeldOutScore;
  /** Absent where the head did not win over the nearest phrases, or where training would take too long. */
  readonly weights?: PhraseHeadWeights | undefined;
}

const classes = workerData as readonly PhraseClass[];
const score = crossValidate(classes);
const weights = score.head > score.nearest ? trainPhraseHead(classes) : undefined;
parentPort?.postMessage({ score, weights } satisfies TrainedHead);
