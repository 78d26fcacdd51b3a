import { editDistance } from './edit-distance.ts';

/**
 * The known name that was probably meant, or undefined: at most a third of the letters may differ (one edit is an
 * insertion, a removal, a change or a swap of neighbours). Case, `_` and `-` do not count. Names over
 * 64 letters are not compared.
 */
export function nearestName(raw: string, known: Iterable<string>): string | undefined {
  const wanted = folded(raw);
  if (wanted === '' || wanted.length > 64) return undefined;
  let best: string | undefined;
  let bestEdits = Math.floor(Math.max(3, wanted.length) / 3) + 1;
  for (const name of known) {
    const candidate = folded(name);
    if (Math.abs(candidate.length - wanted.length) >= bestEdits) continue;
    const edits = editDistance(wanted, candidate, bestEdits - 1);
    if (edits < bestEdits) {
      best = name;
      bestEdits = edits;
    }
  }
  return best;
}

const folded = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');
