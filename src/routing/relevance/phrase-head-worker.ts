/** Trains one head in its own thread and ends: takes the parts of a `TrainingTask`, posts one `TrainedHead`. */
import { parentPort } from 'node:worker_threads';
import { learnFromPhrases } from './phrase-learning.ts';
import { type TrainingPart, TrainingTaskReader } from './training-parts.ts';

const reader = new TrainingTaskReader();
parentPort?.on('message', (part: TrainingPart) => {
  const task = reader.read(part);
  if (task === undefined) return;
  parentPort?.postMessage(learnFromPhrases(task));
  parentPort?.close();
});
