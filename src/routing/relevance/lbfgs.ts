/**
 * Minimises a smooth convex function from zero by limited-memory BFGS with step halving: no randomness, one or two
 * evaluations a step, memory of `MEMORY` pairs of vectors.
 */

/** Answers the value, and writes the gradient over its second argument. */
export type SmoothFunction = (point: Float64Array, gradient: Float64Array) => number;

const MEMORY = 6;
const SUFFICIENT = 1e-4;
const MAX_HALVINGS = 12;
/** Ends when a step improves by less than this share of the value. */
const TOLERANCE = 1e-5;

interface Pair {
  readonly move: Float64Array;
  readonly turn: Float64Array;
  readonly curvature: number;
}

export function minimise(
  value: SmoothFunction,
  limits: { readonly size: number; readonly steps: number },
): Float64Array {
  let point = new Float64Array(limits.size);
  let gradient = new Float64Array(limits.size);
  let current = value(point, gradient);
  const pairs: Pair[] = [];
  for (let step = 0; step < limits.steps; step++) {
    const direction = descent(gradient, pairs);
    const slope = product(gradient, direction);
    if (!(slope < 0)) break;
    let length = pairs.length === 0 ? Math.min(1, 1 / Math.sqrt(product(gradient, gradient))) : 1;
    let next = point;
    const nextGradient = new Float64Array(limits.size);
    let reached = Number.POSITIVE_INFINITY;
    for (let halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
      next = point.map((one, i) => one + length * (direction[i] as number));
      reached = value(next, nextGradient);
      if (reached <= current + SUFFICIENT * length * slope) break;
    }
    if (!(reached < current)) break;
    const move = next.map((one, i) => one - (point[i] as number));
    const turn = nextGradient.map((one, i) => one - (gradient[i] as number));
    const curvature = product(move, turn);
    if (curvature > 1e-12) pairs.push({ move, turn, curvature });
    if (pairs.length > MEMORY) pairs.shift();
    const gain = current - reached;
    point = next;
    gradient = nextGradient;
    current = reached;
    if (gain < TOLERANCE * Math.abs(current)) break;
  }
  return point;
}

/** The two-loop recursion (Nocedal and Wright, algorithm 7.4). */
function descent(gradient: Float64Array, pairs: readonly Pair[]): Float64Array {
  const direction = gradient.map((one) => -one);
  const shares: number[] = [];
  for (const { move, turn, curvature } of [...pairs].reverse()) {
    const share = product(move, direction) / curvature;
    shares.unshift(share);
    add(direction, -share, turn);
  }
  const last = pairs.at(-1);
  if (last !== undefined) {
    const scale = last.curvature / product(last.turn, last.turn);
    for (let i = 0; i < direction.length; i++) direction[i] = (direction[i] as number) * scale;
  }
  for (const [at, { move, turn, curvature }] of pairs.entries()) {
    add(direction, (shares[at] ?? 0) - product(turn, direction) / curvature, move);
  }
  return direction;
}

function product(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += (left[i] as number) * (right[i] as number);
  return sum;
}

function add(target: Float64Array, factor: number, other: Float64Array): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) + factor * (other[i] as number);
}
