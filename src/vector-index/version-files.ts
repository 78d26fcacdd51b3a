import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { IndexVersionInfo } from './vector-index.ts';

/**
 * The files of one version folder: written through to the disk, read back only by checksum. Reads go in pieces, so
 * that hashing blocks the calling thread for about a millisecond at a time.
 *
 *     v000001/version.json   sidecar: the info, and size and checksum of each other file and of itself
 *             ids.json       ids, in the order of the rows
 *             vectors.f32    rows, float32, little-endian
 *             vectors.hnsw   the graph over them (kind hnsw)
 *             catalogue.json what the texts behind the vectors said, and of whom; absent in old versions
 *             heads.bin      what was learnt from their phrases; absent where that is nothing
 */
export const SIDECAR_FILE = 'version.json';
export const IDS_FILE = 'ids.json';
export const ROWS_FILE = 'vectors.f32';
export const GRAPH_FILE = 'vectors.hnsw';
export const CATALOGUE_FILE = 'catalogue.json';
export const HEADS_FILE = 'heads.bin';

const FORMAT = 1;
const PIECE_BYTES = 1 << 20;

export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

export interface Sidecar {
  readonly info: IndexVersionInfo;
  readonly files: Readonly<Record<string, FileDigest>>;
}

export async function writeDurably(path: string, data: Uint8Array): Promise<FileDigest> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { bytes: data.byteLength, sha256: createHash('sha256').update(data).digest('hex') };
}

/** For files that somebody else wrote, and for folders: an entry is on the disk only once its folder is. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function digestOf(path: string): Promise<FileDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  const handle = await openFile(path);
  try {
    const piece = new Uint8Array(PIECE_BYTES);
    for (let read = await readPiece(handle, piece); read > 0; read = await readPiece(handle, piece)) {
      hash.update(piece.subarray(0, read));
      bytes += read;
    }
  } finally {
    await handle.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** The content, if it is what `expected` says; else the reason in words. */
export async function readVerified(path: string, expected: FileDigest): Promise<Uint8Array<ArrayBuffer> | string> {
  const handle = await openFile(path);
  try {
    const { size } = await handle.stat();
    if (size !== expected.bytes) return `has ${size} bytes instead of ${expected.bytes}`;
    const hash = createHash('sha256');
    const content = new Uint8Array(size);
    for (let at = 0; at < size; ) {
      const read = await readPiece(handle, content.subarray(at, at + PIECE_BYTES));
      if (read === 0) return `ended after ${at} bytes of ${expected.bytes}`;
      hash.update(content.subarray(at, at + read));
      at += read;
    }
    return hash.digest('hex') === expected.sha256 ? content : 'does not match its checksum';
  } finally {
    await handle.close();
  }
}

/** To be read. A pipe would let open or read wait for ever, a device never end. */
async function openFile(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error(`${basename(path)} is not a regular file`);
}

async function readPiece(handle: FileHandle, piece: Uint8Array): Promise<number> {
  return (await handle.read(piece, 0, piece.length, null)).bytesRead;
}

export async function writeSidecar(folder: string, sidecar: Sidecar): Promise<void> {
  const body = { format: FORMAT, info: sidecar.info, files: sidecar.files };
  const text = JSON.stringify({ ...body, sha256: sha256Of(JSON.stringify(body)) }, null, 2);
  await writeDurably(join(folder, SIDECAR_FILE), Buffer.from(`${text}\n`));
}

/** The sidecar, or in words why it cannot be trusted. A missing file throws, as in the other readers. */
export async function readSidecar(folder: string): Promise<Sidecar | string> {
  const handle = await openFile(join(folder, SIDECAR_FILE));
  let parsed: unknown;
  try {
    parsed = JSON.parse(await handle.readFile('utf8'));
  } catch {
    return `${SIDECAR_FILE} is not JSON`;
  } finally {
    await handle.close();
  }
  if (typeof parsed !== 'object' || parsed === null || !('format' in parsed)) return `${SIDECAR_FILE} is not a sidecar`;
  if (parsed.format !== FORMAT) return `${SIDECAR_FILE} has format ${String(parsed.format)} instead of ${FORMAT}`;
  const { sha256, ...body } = parsed as { sha256?: unknown; format: number } & Sidecar;
  // What carries our checksum was written by writeSidecar, so its shape needs no further check.
  return sha256 === sha256Of(JSON.stringify(body)) ? body : `${SIDECAR_FILE} does not match its checksum`;
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
