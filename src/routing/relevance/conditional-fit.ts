/**
 * Weights under which the right candidate of each question gets the most of a softmax over its candidates, held near
 * those of a prior, by Newton's method. No weight falls under 0 (more evidence never speaks against a candidate): a
 * feature that wants to is left out.
 */
import { solve } from './linear-system.ts';

export interface Question {
  readonly rows: readonly (readonly number[])[];
  readonly isRight: readonly boolean[];
  readonly weight: number;
}

export interface Prior {
  readonly weights: readonly number[];
  /** By feature and feature: what moving away from the weights costs, as half of a quadratic form. */
  readonly curvature: readonly (readonly number[])[];
}

const STEPS = 15;
/** No weight moves by more: the rest would not show in the three decimals that are kept. */
const SETTLED = 1e-4;
const NO_CHANCE = 1e-5;

export function fitConditional(questions: readonly Question[], prior: Prior): number[] {
  const start = [...prior.weights];
  let active = start.map((_, at) => at).filter((at) => varies(questions, at));
  for (;;) {
    const weights = newton(questions, active, prior, start);
    const least = active.reduce((low, at) => ((weights[at] ?? 0) < (weights[low] ?? 0) ? at : low), active[0] ?? 0);
    if ((weights[least] ?? 0) >= 0) return weights;
    active = active.filter((at) => at !== least);
    start[least] = 0;
  }
}

/** Second derivatives of what the questions say, a unit of weight each: how surely they hold these weights. */
export function curvatureOf(questions: readonly Question[], weights: readonly number[]): number[][] {
  const width = weights.length;
  const all = Array.from({ length: width }, (_, at) => at);
  const curvature = new Float64Array(width * width);
  let total = 0;
  for (const question of questions) {
    addQuestion(packed(question, all), Float64Array.from(weights), new Float64Array(width), curvature);
    total += question.weight;
  }
  return linesOf(curvature, width).map((line) => line.map((value) => value / total));
}

function varies(questions: readonly Question[], at: number): boolean {
  return questions.some(({ rows }) => rows.some((row) => row[at] !== rows[0]?.[at]));
}

/** A question as plain numbers: `features` row by row, and which rows are right. */
interface Packed {
  readonly features: Float64Array;
  readonly isRight: Uint8Array;
  readonly weight: number;
}

function packed({ rows, isRight, weight }: Question, active: readonly number[]): Packed {
  const features = Float64Array.from(rows.flatMap((row) => active.map((at) => row[at] ?? 0)));
  return { features, isRight: Uint8Array.from(isRight, Number), weight };
}

/** Of all features; those that are not active stay where `start` has them. */
function newton(
  questions: readonly Question[],
  active: readonly number[],
  prior: Prior,
  start: readonly number[],
): number[] {
  const width = active.length;
  const inputs = questions.map((question) => packed(question, active));
  const pull = active.map((at) => active.map((other) => prior.curvature[at]?.[other] ?? 0));
  const all = [...start];
  for (let step = 0; step < STEPS; step++) {
    const away = all.map((weight, at) => weight - (prior.weights[at] ?? 0));
    const gradient = Float64Array.from(active, (at) => -dot(prior.curvature[at] ?? [], away));
    const curvature = new Float64Array(width * width);
    const weights = Float64Array.from(active, (at) => all[at] ?? 0);
    for (const question of inputs) addQuestion(question, weights, gradient, curvature);
    const lines = linesOf(curvature, width).map((line, at) =>
      line.map((value, other) => value + (pull[at]?.[other] ?? 0)),
    );
    const move = solve(lines, [...gradient]);
    // Far from the end Newton overshoots; half a step at first is enough for these few features.
    const length = step < 3 ? 0.5 : 1;
    for (const [at, feature] of active.entries()) all[feature] = (all[feature] ?? 0) + length * (move[at] ?? 0);
    if (Math.max(...move.map(Math.abs)) < SETTLED) break;
  }
  return all;
}

function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
}

function linesOf(square: Float64Array, width: number): number[][] {
  return Array.from({ length: width }, (_, at) => [...square.subarray(at * width, (at + 1) * width)]);
}

function addQuestion(
  { features, isRight, weight }: Packed,
  weights: Float64Array,
  gradient: Float64Array,
  curvature: Float64Array,
): void {
  const width = weights.length;
  const scores = Float64Array.from(isRight, (_, row) => {
    let sum = 0;
    for (let at = 0; at < width; at++) sum += (features[row * width + at] as number) * (weights[at] as number);
    return sum;
  });
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  let total = 0;
  let totalRight = 0;
  for (let row = 0; row < powers.length; row++) {
    total += powers[row] as number;
    if (isRight[row] === 1) totalRight += powers[row] as number;
  }
  const mean = new Float64Array(width);
  for (let row = 0; row < powers.length; row++) {
    const share = (powers[row] as number) / total;
    const shareOfRight = isRight[row] === 1 ? (powers[row] as number) / totalRight : 0;
    // Most candidates have no chance: they bend nothing, and skipping them saves two thirds of the time.
    if (share < NO_CHANCE && shareOfRight === 0) continue;
    for (let at = 0; at < width; at++) {
      const value = features[row * width + at] as number;
      mean[at] = (mean[at] as number) + share * value;
      gradient[at] = (gradient[at] as number) + weight * (shareOfRight - share) * value;
      for (let other = 0; other < width; other++) {
        const cell = at * width + other;
        const product = value * (features[row * width + other] as number);
        curvature[cell] = (curvature[cell] as number) + weight * share * product;
      }
    }
  }
  for (let at = 0; at < width; at++) {
    for (let other = 0; other < width; other++) {
      const cell = at * width + other;
      curvature[cell] = (curvature[cell] as number) - weight * (mean[at] as number) * (mean[other] as number);
    }
  }
}
