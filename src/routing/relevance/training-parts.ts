/**
 * A training task on its way to its thread, in parts of about a millisecond: as one message, 5,000 capabilities of ten
 * texts block the sending thread for 0.7 s. Vectors travel as rows of a buffer that changes hands, without a copy at
 * the other end.
 */
import type { ModelCalibration } from '../../embedding/index.ts';
import type { IndexedCapability } from '../indexed-capability.ts';
import type { HeldOutTask } from './held-out-evidence.ts';
import type { PhraseClass } from './phrase-head.ts';

export interface TrainingTask {
  readonly classes: readonly PhraseClass[];
  /** What phrases that are held out are asked of; absent: neither ranking weights nor thresholds are learnt. */
  readonly registry?: HeldOutTask | undefined;
}

export type TrainingPart =
  | {
      readonly kind: 'classes';
      readonly classes: readonly { readonly name: string; readonly phrases: number; readonly anchors: number }[];
      readonly rows: Float32Array<ArrayBuffer>;
    }
  | { readonly kind: 'calibration'; readonly calibration: ModelCalibration }
  | { readonly kind: 'entries'; readonly entries: readonly IndexedCapability[] }
  | { readonly kind: 'vectors'; readonly hashes: readonly string[]; readonly rows: Float32Array<ArrayBuffer> }
  | { readonly kind: 'end' };

const CLASSES_A_PART = 64;
const ENTRIES_A_PART = 16;
const VECTORS_A_PART = 512;

export function* partsOf({ classes, registry }: TrainingTask): Generator<TrainingPart> {
  for (const some of slicesOf(classes, CLASSES_A_PART)) {
    const counted = some.map(({ name, phrases, anchors }) => ({
      name,
      phrases: phrases.length,
      anchors: anchors.length,
    }));
    const rows = joined(some.flatMap(({ phrases, anchors }) => [...phrases, ...anchors]));
    yield { kind: 'classes', classes: counted, rows };
  }
  if (registry !== undefined) {
    const { calibration, entries, vectors } = registry;
    yield { kind: 'calibration', calibration };
    for (const some of slicesOf(entries, ENTRIES_A_PART)) yield { kind: 'entries', entries: some };
    for (const some of slicesOf([...vectors], VECTORS_A_PART)) {
      yield { kind: 'vectors', hashes: some.map(([hash]) => hash), rows: joined(some.map(([, vector]) => vector)) };
    }
  }
  yield { kind: 'end' };
}

/** Puts the parts together again. */
export class TrainingTaskReader {
  readonly #classes: PhraseClass[] = [];
  readonly #entries: IndexedCapability[] = [];
  readonly #vectors = new Map<string, Float32Array>();
  #calibration: ModelCalibration | undefined;

  /** The task, with its last part. */
  read(part: TrainingPart): TrainingTask | undefined {
    switch (part.kind) {
      case 'classes':
        this.#readClasses(part);
        return undefined;
      case 'calibration':
        this.#calibration = part.calibration;
        return undefined;
      case 'entries':
        this.#entries.push(...part.entries);
        return undefined;
      case 'vectors': {
        const row = rowsOf(part.rows, part.hashes.length);
        for (const hash of part.hashes) this.#vectors.set(hash, row());
        return undefined;
      }
      case 'end':
        return this.#task();
      default:
        return part satisfies never;
    }
  }

  #readClasses({ classes, rows }: Extract<TrainingPart, { kind: 'classes' }>): void {
    const count = classes.reduce((sum, { phrases, anchors }) => sum + phrases + anchors, 0);
    const row = rowsOf(rows, count);
    for (const { name, phrases, anchors } of classes) {
      this.#classes.push({
        name,
        phrases: Array.from({ length: phrases }, row),
        anchors: Array.from({ length: anchors }, row),
      });
    }
  }

  #task(): TrainingTask {
    const calibration = this.#calibration;
    if (calibration === undefined) return { classes: this.#classes };
    return { classes: this.#classes, registry: { calibration, entries: this.#entries, vectors: this.#vectors } };
  }
}

function* slicesOf<One>(list: readonly One[], size: number): Generator<readonly One[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

function joined(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const dimensions = vectors[0]?.length ?? 0;
  const rows = new Float32Array(vectors.length * dimensions);
  for (const [at, vector] of vectors.entries()) rows.set(vector, at * dimensions);
  return rows;
}

/** One row after the other. */
function rowsOf(rows: Float32Array, count: number): () => Float32Array {
  const dimensions = count === 0 ? 0 : rows.length / count;
  let at = 0;
  return () => {
    at += dimensions;
    return rows.subarray(at - dimensions, at);
  };
}
