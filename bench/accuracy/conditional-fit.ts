/**
 * Weights under which the right candidate of each question gets the most of a softmax over its candidates, by Newton's
 * method; weights are kept from falling under 0 (more evidence never speaks against a candidate) by leaving out a
 * feature that wants to.
 */
import { solve } from '../calibration/logistic-fit.ts';

export interface Question {
  readonly rows: readonly (readonly number[])[];
  readonly isRight: readonly boolean[];
  readonly weight: number;
}

const STEPS = 15;
const NO_CHANCE = 1e-5;
/** No weight moves by more: the rest would not show in the three decimals that are kept. */
const SETTLED = 1e-4;
/** A pull towards 0, in questions: small sets must not drive a weight to infinity. */
const RIDGE: number = 1e-4;

export function fitConditional(questions: readonly Question[], width: number): number[] {
  let active = Array.from({ length: width }, (_, at) => at).filter((at) => varies(questions, at));
  for (;;) {
    const weights = newton(questions, active);
    const least = Math.min(...weights);
    if (least >= 0 || active.length === 1) {
      return Array.from({ length: width }, (_, at) => weights[active.indexOf(at)] ?? 0);
    }
    active = active.filter((_, at) => weights[at] !== least);
  }
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

function newton(questions: readonly Question[], active: readonly number[]): number[] {
  const width = active.length;
  const packed = questions.map(({ rows, isRight, weight }): Packed => {
    const features = Float64Array.from(rows.flatMap((row) => active.map((at) => row[at] ?? 0)));
    return { features, isRight: Uint8Array.from(isRight, Number), weight };
  });
  let weights = new Array<number>(width).fill(0);
  for (let step = 0; step < STEPS; step++) {
    const gradient = Float64Array.from(weights, (weight) => -RIDGE * weight);
    const curvature = new Float64Array(width * width);
    for (const question of packed) addQuestion(question, Float64Array.from(weights), gradient, curvature);
    const lines = weights.map((_, at) =>
      Array.from(
        curvature.subarray(at * width, (at + 1) * width),
        (value, other) => value + (at === other ? RIDGE : 0),
      ),
    );
    const move = solve(lines, [...gradient]);
    // Far from the end Newton overshoots; half a step at first is enough for these few features.
    const length = step < 3 ? 0.5 : 1;
    weights = weights.map((value, at) => value + length * (move[at] ?? 0));
    if (Math.max(...move.map(Math.abs)) < SETTLED) break;
  }
  return weights;
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
