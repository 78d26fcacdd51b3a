/** Weighted logistic regression by Newton's method: exact for the handful of parameters here, and without randomness. */
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
/** Keeps the system solvable when a feature never varies. */
const RIDGE: number = 1e-9;

export function fitLogistic(rows: readonly LabelledRow[]): LogisticFit {
  const width = (rows[0]?.features.length ?? 0) + 1;
  let coefficients = new Array<number>(width).fill(0);
  for (let step = 0; step < STEPS; step += 1) {
    const gradient = new Array<number>(width).fill(0);
    const curvature = gradient.map((_, at) => gradient.map((__, other) => (at === other ? RIDGE : 0)));
    for (const { features, isTrue, weight } of rows) {
      const input = [...features, 1];
      const probability = logistic(linear(coefficients, input));
      for (let row = 0; row < width; row += 1) {
        const value = input[row] ?? 0;
        gradient[row] = (gradient[row] ?? 0) + weight * ((isTrue ? 1 : 0) - probability) * value;
        const line = curvature[row] ?? [];
        for (let column = 0; column < width; column += 1) {
          const product = value * (input[column] ?? 0);
          line[column] = (line[column] ?? 0) + weight * probability * (1 - probability) * product;
        }
      }
    }
    const move = solve(curvature, gradient);
    coefficients = coefficients.map((value, at) => value + (move[at] ?? 0));
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

/** Gaussian elimination with pivoting. */
export function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((line, at) => [...line, right[at] ?? 0]);
  for (let column = 0; column < rows.length; column += 1) {
    const rest = rows.slice(column).sort((a, b) => Math.abs(b[column] ?? 0) - Math.abs(a[column] ?? 0));
    rows.splice(column, rest.length, ...rest);
    const pivot = rows[column] ?? [];
    for (const [at, line] of rows.entries()) {
      if (at === column) continue;
      const factor = (line[column] ?? 0) / (pivot[column] ?? 1);
      rows[at] = line.map((value, position) => value - factor * (pivot[position] ?? 0));
    }
  }
  return rows.map((line, at) => (line.at(-1) ?? 0) / (line[at] ?? 1));
}
