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

function newton(questions: readonly Question[], active: readonly number[]): number[] {
  const width = active.length;
  let weights = new Array<number>(width).fill(0);
  for (let step = 0; step < STEPS; step++) {
    const gradient = weights.map((weight) => -RIDGE * weight);
    const curvature = weights.map((_, at) => weights.map((__, other) => (at === other ? RIDGE : 0)));
    for (const { rows, isRight, weight } of questions) {
      const features = rows.map((row) => active.map((at) => row[at] ?? 0));
      const all = shares(features, weights);
      const right = shares(features, weights, isRight);
      const mean = (of: readonly number[]): number[] =>
        weights.map((_, at) => features.reduce((sum, row, one) => sum + (of[one] ?? 0) * (row[at] ?? 0), 0));
      const meanAll = mean(all);
      const meanRight = mean(right);
      for (let at = 0; at < width; at++) {
        gradient[at] = (gradient[at] ?? 0) + weight * ((meanRight[at] ?? 0) - (meanAll[at] ?? 0));
        const line = curvature[at] ?? [];
        for (let other = 0; other < width; other++) {
          let second = 0;
          for (const [one, row] of features.entries()) second += (all[one] ?? 0) * (row[at] ?? 0) * (row[other] ?? 0);
          line[other] = (line[other] ?? 0) + weight * (second - (meanAll[at] ?? 0) * (meanAll[other] ?? 0));
        }
      }
    }
    const move = solve(curvature, gradient);
    // Far from the end Newton overshoots; half a step at first is enough for these few features.
    const length = step < 3 ? 0.5 : 1;
    weights = weights.map((value, at) => value + length * (move[at] ?? 0));
  }
  return weights;
}

function shares(
  features: readonly (readonly number[])[],
  weights: readonly number[],
  only?: readonly boolean[],
): number[] {
  const scores = features.map((row) => row.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0));
  const most = Math.max(...scores.filter((_, at) => only?.[at] ?? true));
  const powers = scores.map((score, at) => ((only?.[at] ?? true) ? Math.exp(score - most) : 0));
  const total = powers.reduce((sum, one) => sum + one, 0);
  return powers.map((one) => one / total);
}
