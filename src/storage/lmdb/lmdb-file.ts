/**
 * Looks at an lmdb data file before lmdb does: lmdb maps whatever it is given, and a file that is foreign or was cut
 * short then ends the process by a signal instead of an error. Reads two pages. It finds the damage of a copy that
 * broke off or of another program's file, not that of single bytes.
 *
 * Each of the two first pages is a meta page: a header of 24 bytes, then (little-endian) magic number u32, version
 * u32, address u64, map size u64, and two trees of 48 bytes each: page size u32 first, root page u64 last; then last
 * page u64 and transaction u64. The one of the higher transaction is in force.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

const META_BYTES = 0xa0;
const MAGIC_AT = 0x18;
const MAGIC = 0xbeefc0de;
const PAGE_SIZE_AT = 0x30;
const FREE_ROOT_AT = 0x58;
const MAIN_ROOT_AT = 0x88;
const TRANSACTION_AT = 0x98;
/** Stands for the root of an empty tree. */
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

/**
 * What is wrong with the file, in words; undefined where lmdb may open it. A missing or empty file is a new one, unless
 * `heldData`: lmdb would begin an empty store in it without a word.
 */
export function flawOfLmdbFile(path: string, heldData: boolean): string | undefined {
  if (!existsSync(path)) return heldData ? 'it is gone, though this folder held data' : undefined;
  const file = openSync(path, 'r');
  try {
    const lengthBytes = fstatSync(file).size;
    if (lengthBytes === 0) return heldData ? 'it is empty, though this folder held data' : undefined;
    const first = readMeta(file, 0);
    if (first === undefined) return 'it was not written by lmdb';
    const second = readMeta(file, first.readUInt32LE(PAGE_SIZE_AT));
    if (second === undefined) return 'it was cut short or overwritten';
    return isWhole(first, second, lengthBytes) ? undefined : 'it was cut short';
  } finally {
    closeSync(file);
  }
}

function readMeta(file: number, position: number): Buffer | undefined {
  const page = Buffer.alloc(META_BYTES);
  const read = readSync(file, page, 0, META_BYTES, position);
  return read === META_BYTES && page.readUInt32LE(MAGIC_AT) === MAGIC ? page : undefined;
}

/** Not by the last page: one that a transaction took and gave back was never written, and the file may end before. */
function isWhole(first: Buffer, second: Buffer, lengthBytes: number): boolean {
  const current = first.readBigUInt64LE(TRANSACTION_AT) > second.readBigUInt64LE(TRANSACTION_AT) ? first : second;
  const pageBytes = BigInt(current.readUInt32LE(PAGE_SIZE_AT));
  return [FREE_ROOT_AT, MAIN_ROOT_AT].every((at) => {
    const root = current.readBigUInt64LE(at);
    return root === NO_PAGE || (root + 1n) * pageBytes <= BigInt(lengthBytes);
  });
}
