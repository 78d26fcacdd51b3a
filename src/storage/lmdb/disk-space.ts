/**
 * Keeps lmdb from meeting the end of the disk: 3.5.6 writes its message about a failed write over the end of a buffer
 * (mdb.c, `malloc(100)`), which may end the process. One statfs a commit, some microseconds. What it cannot see may
 * still end a write: a quota, a limit on the size of a file, or another writer that takes the reserve in one go.
 */
import { statfsSync } from 'node:fs';
import { storeUnavailable } from '../key-value-store.ts';

const MIB = 1_048_576;
export const RESERVED_BYTES = 16 * MIB;
/** What a commit may write for each of its bytes: pages are copied before they are changed. */
const PAGES_FOR_BYTES = 2;

export type FreeBytes = (folder: string) => number;

export const freeBytesOf: FreeBytes = (folder) => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

export class DiskSpace {
  readonly #folder: string;
  readonly #freeBytes: FreeBytes;
  #bytesInFlight = 0;

  constructor(folder: string, freeBytes: FreeBytes = freeBytesOf) {
    this.#folder = folder;
    this.#freeBytes = freeBytes;
  }

  /** Runs `commit` of so many bytes while there is room for it and the reserve. Error: AR_ERR_STORE_UNAVAILABLE. */
  async within<Result>(bytes: number, commit: () => Promise<Result>): Promise<Result> {
    const free = this.#free();
    if (free < RESERVED_BYTES + PAGES_FOR_BYTES * (this.#bytesInFlight + bytes)) {
      throw storeUnavailable(
        `only ${(free / MIB).toFixed(1)} MiB of disk are free where the store is, and ${RESERVED_BYTES / MIB} MiB beside what is written are asked for: make room`,
      );
    }
    this.#bytesInFlight += bytes;
    try {
      return await commit();
    } finally {
      this.#bytesInFlight -= bytes;
    }
  }

  /** A file system that does not tell is taken to have room. */
  #free(): number {
    try {
      return this.#freeBytes(this.#folder);
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }
}
