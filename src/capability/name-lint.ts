/**
 * Finds names that are probably one name spelt twice: the same segments in another order, or one edit away. Names
 * that differ in a digit (`model.run.v1`, `model.run.v2`) are versions, not slips. One pass, no allocation for most
 * known names, since every registration runs it.
 */
import { editDistance } from '../core/index.ts';

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** One insert, delete, replace or swap of neighbours, by the ends that two names share. */
function isOneEditAway(left: string, right: string): boolean {
  const [shorter, longer] = left.length <= right.length ? [left, right] : [right, left];
  if (longer.length - shorter.length > 1) return false;
  let start = 0;
  while (start < shorter.length && shorter.charCodeAt(start) === longer.charCodeAt(start)) start++;
  let shared = 0;
  while (
    shared < shorter.length - start &&
    shorter.charCodeAt(shorter.length - 1 - shared) === longer.charCodeAt(longer.length - 1 - shared)
  ) {
    shared++;
  }
  // Most names end here: what follows costs a string or two.
  if (longer.length - shared - start > 2) return false;
  const from = shorter.slice(start, shorter.length - shared);
  const to = longer.slice(start, longer.length - shared);
  if (from === to) return false;
  if ((from === '' || isDigit(from.charCodeAt(0))) && isDigit(to.charCodeAt(0))) return false;
  return editDistance(from, to, 1) === 1;
}

/** The known names, in alphabetical order, that `name` may be a second spelling of; `name` itself is left out. */
export function nearDuplicateNames(name: string, known: Iterable<string>): string[] {
  const segments = name.split('.');
  const sorted = segments.toSorted().join('.');
  const isReorderOf = (other: string): boolean =>
    other.length === name.length &&
    segments.every((segment) => other.includes(segment)) &&
    other.split('.').sort().join('.') === sorted;
  const found: string[] = [];
  for (const other of known) {
    if (Math.abs(other.length - name.length) > 1 || other === name) continue;
    if (isReorderOf(other) || isOneEditAway(name, other)) found.push(other);
  }
  return found.sort();
}
