/**
 * A linear classifier over frozen vectors, learnt from the phrases of capabilities that have at least four: softmax
 * regression with an L2 penalty, fitted by L-BFGS from zero, so that the same phrases give the same numbers. Costs
 * examples x capabilities x dimensions multiplications a step, seconds for 150 capabilities of 8 phrases, so it runs
 * in a worker thread.
 */
import type { RankingWeights } from '../../embedding/index.ts';
import { minimise } from './lbfgs.ts';

export interface PhraseClass {
  readonly name: string;
  readonly phrases: readonly Float32Array[];
  /** Vectors of its name and descriptions: one example more, each. */
  readonly anchors: readonly Float32Array[];
}

/** Row i of `weights` belongs to names[i]; a logit is the product of a row with the query less `center`. */
export interface PhraseHeadWeights {
  readonly names: readonly string[];
  readonly center: Float32Array;
  readonly weights: Float32Array;
  /** By which the namespace orders what the head has learnt, where it does better by them than by the fitted ones. */
  readonly ranking?: RankingWeights | undefined;
}

export const MIN_PHRASES = 4;
/** Both chosen on train/clinc150, 8 phrases a label; the logistic head won there over ridge, mean and discriminant. */
const SCALE = 3;
const PENALTY = 0.3;
const STEPS = 25;
const FEWEST_STEPS = 8;
/** Multiplications of one training: half a minute of one core. Larger registries take fewer steps, then none. */
const MAX_WORK = 4e10;
export const FOLDS = 4;
/** A head answers together with the nearest phrases, so it is so judged. A round number: 4 and 8 agreed within 0.5. */
const NEARNESS_WEIGHT = 4;

/** Undefined for fewer than two classes, and where a training would take too long. */
export function trainPhraseHead(classes: readonly PhraseClass[], steps = STEPS): PhraseHeadWeights | undefined {
  const [first] = classes;
  const dimensions = first?.phrases[0]?.length ?? 0;
  const examples = classes.flatMap((one, at) => [...one.phrases, ...one.anchors].map((vector) => ({ vector, at })));
  const affordable = Math.floor(MAX_WORK / (2 * examples.length * classes.length * dimensions));
  if (classes.length < 2 || dimensions === 0 || affordable < FEWEST_STEPS) return undefined;
  const center = new Float32Array(dimensions);
  for (const { vector } of examples) {
    for (let i = 0; i < dimensions; i++) center[i] = (center[i] ?? 0) + (vector[i] ?? 0) / examples.length;
  }
  const inputs = new Float64Array(examples.length * dimensions);
  for (const [row, { vector }] of examples.entries()) {
    for (let i = 0; i < dimensions; i++) inputs[row * dimensions + i] = SCALE * ((vector[i] ?? 0) - (center[i] ?? 0));
  }
  const labels = Uint32Array.from(examples, ({ at }) => at);
  const task = { inputs, labels, classes: classes.length, dimensions };
  const solution = minimise((weights, gradient) => lossOf(task, weights, gradient), {
    size: classes.length * dimensions,
    steps: Math.min(steps, affordable),
  });
  return { names: classes.map(({ name }) => name), center, weights: Float32Array.from(solution, (one) => SCALE * one) };
}

interface Task {
  readonly inputs: Float64Array;
  readonly labels: Uint32Array;
  readonly classes: number;
  readonly dimensions: number;
}

/** Penalised negative log likelihood; its gradient is written over `gradient`. */
function lossOf({ inputs, labels, classes, dimensions }: Task, weights: Float64Array, gradient: Float64Array): number {
  let loss = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] as number;
    gradient[i] = PENALTY * weight;
    loss += 0.5 * PENALTY * weight * weight;
  }
  const logits = new Float64Array(classes);
  for (let row = 0; row < labels.length; row++) {
    const start = row * dimensions;
    for (let one = 0; one < classes; one++) logits[one] = product(weights, one * dimensions, inputs, start, dimensions);
    const total = logSumExp(logits);
    const right = labels[row] as number;
    loss += total - (logits[right] as number);
    for (let one = 0; one < classes; one++) {
      const share = Math.exp((logits[one] as number) - total) - (one === right ? 1 : 0);
      // A share this small moves nothing, and most are: skipping them saves nearly half of the time.
      if (Math.abs(share) < 1e-4) continue;
      const at = one * dimensions;
      for (let i = 0; i < dimensions; i++)
        gradient[at + i] = (gradient[at + i] as number) + share * (inputs[start + i] as number);
    }
  }
  return loss;
}

function product(left: Float64Array, leftAt: number, right: Float64Array, rightAt: number, length: number): number {
  let even = 0;
  let odd = 0;
  for (let i = 0; i + 1 < length; i += 2) {
    even += (left[leftAt + i] as number) * (right[rightAt + i] as number);
    odd += (left[leftAt + i + 1] as number) * (right[rightAt + i + 1] as number);
  }
  if (length % 2 === 1) even += (left[leftAt + length - 1] as number) * (right[rightAt + length - 1] as number);
  return even + odd;
}

export function logSumExp(values: ArrayLike<number>): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i] as number);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.exp((values[i] as number) - most);
  return most + Math.log(sum);
}

/** Reads one logit at a time: a route asks for the few capabilities that it recalled. */
export class PhraseHead implements PhraseHeadWeights {
  readonly names: readonly string[];
  readonly center: Float32Array;
  readonly weights: Float32Array;
  readonly ranking: RankingWeights | undefined;
  readonly #rowOf: ReadonlyMap<string, number>;
  readonly #offsets: Float64Array;

  constructor({ names, center, weights, ranking }: PhraseHeadWeights) {
    this.ranking = ranking;
    this.names = names;
    this.center = center;
    this.weights = weights;
    this.#rowOf = new Map(names.map((name, row) => [name, row]));
    this.#offsets = Float64Array.from(names, (_, row) => this.#product(row, center));
  }

  /** Undefined for a capability that it did not learn. */
  logit(name: string, query: Float32Array): number | undefined {
    const row = this.#rowOf.get(name);
    return row === undefined ? undefined : this.#product(row, query) - (this.#offsets[row] as number);
  }

  #product(row: number, vector: Float32Array): number {
    const { center, weights } = this;
    const start = row * center.length;
    let sum = 0;
    for (let i = 0; i < center.length; i++) sum += (weights[start + i] as number) * (vector[i] as number);
    return sum;
  }
}

/** Of all phrases, each asked of a head beside the nearest phrases (or of those alone) that had not seen it. */
export interface HeldOutScore {
  readonly head: number;
  readonly nearest: number;
  readonly phrases: number;
}

/** The head is worth using only where `head` is above `nearest`. `onHead` is given the head of each fold. */
export function crossValidate(
  classes: readonly PhraseClass[],
  steps = STEPS,
  onHead: (head: PhraseHead, fold: number) => void = () => {},
): HeldOutScore {
  let headRight = 0;
  let nearestRight = 0;
  let phrases = 0;
  for (let fold = 0; fold < FOLDS; fold++) {
    const seen = classes.map((one) => ({ ...one, phrases: one.phrases.filter((_, at) => at % FOLDS !== fold) }));
    const weights = trainPhraseHead(seen, steps);
    if (weights === undefined) return { head: 0, nearest: 0, phrases: 0 };
    const head = new PhraseHead(weights);
    onHead(head, fold);
    for (const one of classes) {
      for (const [at, phrase] of one.phrases.entries()) {
        if (at % FOLDS !== fold) continue;
        phrases += 1;
        const near = new Map(seen.map((other) => [other.name, nearness(other, phrase)]));
        const nearTo = ({ name }: PhraseClass): number => near.get(name) ?? 0;
        const together = (other: PhraseClass): number =>
          (head.logit(other.name, phrase) ?? 0) + NEARNESS_WEIGHT * nearTo(other);
        if (bestOf(seen, together) === one.name) headRight += 1;
        if (bestOf(seen, nearTo) === one.name) nearestRight += 1;
      }
    }
  }
  return { head: headRight / phrases, nearest: nearestRight / phrases, phrases };
}

function nearness({ phrases, anchors }: PhraseClass, query: Float32Array): number {
  let best = -1;
  let sum = 0;
  for (const vector of phrases) {
    const similarity = dot(vector, query);
    sum += similarity;
    best = Math.max(best, similarity);
  }
  for (const vector of anchors) best = Math.max(best, dot(vector, query));
  return best + (phrases.length === 0 ? 0 : sum / phrases.length);
}

function bestOf(classes: readonly PhraseClass[], scoreOf: (one: PhraseClass) => number): string {
  let best = { name: '', score: Number.NEGATIVE_INFINITY };
  for (const one of classes) {
    const score = scoreOf(one);
    if (score > best.score) best = { name: one.name, score };
  }
  return best.name;
}

export function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += (left[i] as number) * (right[i] as number);
  return sum;
}
