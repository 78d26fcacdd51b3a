/**
 * "Did you mean": the known names nearest to a refused or unknown one. Looks at the whole text (two typing errors,
 * three or four in a long name), at segments in another order, and at a segment too few or too many. One pass over the
 * known names; two cheap tests (letters in common, a whole segment in common) spare most of them the distance.
 */
import { canonicalText, editDistance } from '../core/index.ts';

/** The contract takes no longer name; what is longer was not a misspelt name. */
const MAX_RAW_LENGTH = 256;
const SEGMENT_LIMIT = 2;
/** A name that is right but for its order or count of segments ranks behind one typing error, before two. */
const REORDER_COST = 1.25;
const COUNT_COST = 1.5;
const LONE_SEGMENT_COST = 3;

/** The letters of a name as bits: one edit changes at most two of them. */
function letterBits(name: string): number {
  let bits = 0;
  for (let index = 0; index < name.length; index++) bits |= 1 << (name.charCodeAt(index) & 31);
  return bits;
}

function bitCount(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Upper case, full width and the separators of other conventions (`Weather/query-city`, `weather query city`). */
function likeName(raw: string): string {
  return canonicalText(raw).replace(/[\s./:>-]+/gu, '.');
}

function sumOfDistances(left: readonly string[], right: readonly string[], limit: number): number {
  let sum = 0;
  for (let index = 0; index < left.length && sum <= limit; index++) {
    sum += editDistance(left[index] ?? '', right[index] ?? '', limit);
  }
  return sum;
}

/** Least cost of making the shorter list from the longer by leaving out one segment. */
function costWithoutOne(shorter: readonly string[], longer: readonly string[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (let left = 0; left < longer.length; left++) {
    best = Math.min(best, sumOfDistances(shorter, longer.toSpliced(left, 1), SEGMENT_LIMIT));
  }
  return best > SEGMENT_LIMIT ? Number.POSITIVE_INFINITY : COUNT_COST + best;
}

function reorderCost(sorted: string, known: readonly string[]): number {
  const distance = editDistance(sorted, known.toSorted().join('.'), 1);
  return distance > 1 ? Number.POSITIVE_INFINITY : REORDER_COST + distance;
}

function segmentCost(segments: readonly string[], sorted: string, known: readonly string[]): number {
  if (segments.length === known.length) return reorderCost(sorted, known);
  if (segments.length === known.length - 1) return costWithoutOne(segments, known);
  if (segments.length === known.length + 1) return costWithoutOne(known, segments);
  const lone = segments.length === 1 ? segments[0] : undefined;
  return lone !== undefined && known.includes(lone) ? LONE_SEGMENT_COST : Number.POSITIVE_INFINITY;
}

/** At most `limit` names, nearest first, equals in alphabetical order; empty when nothing is near. */
export function suggestNames(raw: string, known: Iterable<string>, limit = 3): string[] {
  if (raw.length > MAX_RAW_LENGTH) return [];
  const wanted = likeName(raw);
  if (wanted === '') return [];
  const segments = wanted.split('.').filter((segment) => segment !== '');
  const sorted = segments.toSorted().join('.');
  const wholeLimit = Math.min(4, Math.max(2, Math.floor(wanted.length / 6)));
  const bits = letterBits(wanted);
  const found: { readonly name: string; readonly cost: number }[] = [];
  for (const name of known) {
    let cost = Number.POSITIVE_INFINITY;
    if (bitCount(bits ^ letterBits(name)) <= 2 * wholeLimit) {
      const distance = editDistance(wanted, name, wholeLimit);
      if (distance <= wholeLimit) cost = distance;
    }
    if (cost > 1 && segments.some((segment) => name.includes(segment))) {
      cost = Math.min(cost, segmentCost(segments, sorted, name.split('.')));
    }
    if (Number.isFinite(cost)) found.push({ name, cost });
  }
  found.sort((left, right) => left.cost - right.cost || (left.name < right.name ? -1 : 1));
  return found.slice(0, limit).map((one) => one.name);
}
