/** Weighted logistic regression by Newton's method: exact for the handful of parameters here, and without randomness. */
import { solve } from '../../src/routing/relevance/linear-system.ts';

export interface LabelledRow {
  /** The constant 1 is added by the fit, as the last one. */
  readonly features: readonly number[];
  readonly isTrue: boolean;
  readonly weight: number;
}

export interface LogisticFit {
  /** One for each feature, then the intercept. */
  readonly coefficients: readonly number[];
  /** Weighted mean of -ln(probability given to what happened); 0.693 = a coin. */
  readonly logLoss: number;
}

const STEPS = 25;
/** No coefficient moves by more: the rest would not show in the decimals that are kept. */
const SETTLED = 1e-7;
/** Keeps the system solvable when a feature never varies. */
const RIDGE: number = 1e-9;

export function fitLogistic(rows: readonly LabelledRow[]): LogisticFit {
  const width = (rows[0]?.features.length ?? 0) + 1;
  const inputs = Float64Array.from(rows.flatMap(({ features }) => [...features, 1]));
  let coefficients = new Array<number>(width).fill(0);
  for (let step = 0; step < STEPS; step += 1) {
    const gradient = new Float64Array(width);
    const curvature = new Float64Array(width * width);
    for (const [row, { isTrue, weight }] of rows.entries()) {
      const start = row * width;
      let logit = 0;
      for (let at = 0; at < width; at += 1) logit += (coefficients[at] as number) * (inputs[start + at] as number);
      const probability = logistic(logit);
      const missing = weight * ((isTrue ? 1 : 0) - probability);
      const spread = weight * probability * (1 - probability);
      for (let at = 0; at < width; at += 1) {
        const value = inputs[start + at] as number;
        gradient[at] = (gradient[at] as number) + missing * value;
        for (let other = 0; other < width; other += 1) {
          const cell = at * width + other;
          curvature[cell] = (curvature[cell] as number) + spread * value * (inputs[start + other] as number);
        }
      }
    }
    const lines = coefficients.map((_, at) =>
      Array.from(
        curvature.subarray(at * width, (at + 1) * width),
        (value, other) => value + (at === other ? RIDGE : 0),
      ),
    );
    const move = solve(lines, [...gradient]);
    coefficients = coefficients.map((value, at) => value + (move[at] ?? 0));
    if (Math.max(...move.map(Math.abs)) < SETTLED) break;
  }
  return { coefficients, logLoss: logLossOf(rows, coefficients) };
}

function logLossOf(rows: readonly LabelledRow[], coefficients: readonly number[]): number {
  let loss = 0;
  let total = 0;
  for (const { features, isTrue, weight } of rows) {
    const logit = linear(coefficients, [...features, 1]);
    loss += weight * Math.log1p(Math.exp(isTrue ? -logit : logit));
    total += weight;
  }
  return loss / total;
}

function linear(coefficients: readonly number[], input: readonly number[]): number {
  return coefficients.reduce((sum, value, at) => sum + value * (input[at] ?? 0), 0);
}

function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
