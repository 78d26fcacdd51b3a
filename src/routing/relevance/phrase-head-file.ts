/**
 * What was learnt from the phrases of each namespace, as it lies beside an index version: a length, a JSON header of
 * that length, then the numbers of every head as they are, so that what is loaded answers the same bits.
 */
import type { HeldOutScore, PhraseHeadWeights } from './phrase-head.ts';

/** A capability, and the content hashes of the phrases that were learnt from. */
export interface LearntClass {
  readonly name: string;
  readonly phrases: readonly string[];
}

export interface LearntHead {
  readonly namespace: string;
  /** Of all that it was learnt from; the same digest would give the same numbers. */
  readonly digest: string;
  readonly classes: readonly LearntClass[];
  readonly score: HeldOutScore;
  /** Absent where the head did not win over the nearest phrases: learnt, and not used. */
  readonly weights?: PhraseHeadWeights | undefined;
  /** Multiples of `minRelevance` by capability, for those that ask for more or less. */
  readonly thresholds?: Readonly<Record<string, number>> | undefined;
}

interface HeaderEntry extends Omit<LearntHead, 'weights'> {
  /** Names in the order of the rows, the number of dimensions, and the ranking weights. */
  readonly rows?: Pick<PhraseHeadWeights, 'names' | 'ranking'> & { readonly dimensions: number };
}

const LENGTH_BYTES = 4;
const FLOAT_BYTES = 4;

export function encodeHeads(heads: readonly LearntHead[]): Uint8Array<ArrayBuffer> {
  const entries = heads.map(({ weights, ...entry }): HeaderEntry => {
    if (weights === undefined) return entry;
    const { names, center, ranking } = weights;
    return { ...entry, rows: { names, dimensions: center.length, ranking } };
  });
  const json = Buffer.from(JSON.stringify(entries));
  // Numbers must lie at multiples of four.
  const header = Buffer.concat([json, Buffer.alloc((FLOAT_BYTES - (json.length % FLOAT_BYTES)) % FLOAT_BYTES, ' ')]);
  const parts = heads.flatMap(({ weights }) => (weights === undefined ? [] : [weights.center, weights.weights]));
  const floats = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(LENGTH_BYTES + header.length + FLOAT_BYTES * floats);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, LENGTH_BYTES);
  const numbers = new Float32Array(bytes.buffer, LENGTH_BYTES + header.length);
  let at = 0;
  for (const part of parts) {
    numbers.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The bytes carry a checksum of ours, so their shape needs no further check. */
export function decodeHeads(bytes: Uint8Array): LearntHead[] {
  const whole = bytes.slice();
  const length = new DataView(whole.buffer).getUint32(0, true);
  const header = Buffer.from(whole.buffer, LENGTH_BYTES, length).toString('utf8');
  const numbers = new Float32Array(whole.buffer, LENGTH_BYTES + length);
  let at = 0;
  const take = (count: number): Float32Array => {
    at += count;
    return numbers.slice(at - count, at);
  };
  return (JSON.parse(header) as HeaderEntry[]).map(({ rows, ...entry }) => {
    if (rows === undefined) return entry;
    const { names, dimensions, ranking } = rows;
    const center = take(dimensions);
    return { ...entry, weights: { names, center, weights: take(names.length * dimensions), ranking } };
  });
}
