import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentReachError, errorText, isAgentReachError } from '../core/index.ts';
import { FlatIndex, type VectorRows } from './flat-index.ts';
import { DEFAULT_HNSW, HnswIndex } from './hnsw-index.ts';
import type { LoadedVersion } from './layered-index.ts';
import { parseStrings } from './string-list.ts';
import type { IndexVersionInfo } from './vector-index.ts';
import {
  CATALOGUE_FILE,
  digestOf,
  type FileDigest,
  GRAPH_FILE,
  HEADS_FILE,
  IDS_FILE,
  ROWS_FILE,
  readSidecar,
  readVerified,
  SIDECAR_FILE,
  type Sidecar,
  syncToDisk,
  writeDurably,
  writeSidecar,
} from './version-files.ts';

/** What a version must be to be served; an absent field is not asked. */
export interface ExpectedVersion {
  readonly modelId?: string;
  readonly fingerprint?: string;
  readonly dimensions?: number;
  readonly kind?: IndexVersionInfo['kind'];
}

export interface RefusedVersion {
  readonly id: string;
  readonly reason: string;
}

/** A folder of the store. Without `info` its sidecar cannot be trusted, and `problem` says why. */
export interface VersionEntry {
  readonly id: string;
  readonly info?: IndexVersionInfo;
  readonly problem?: string;
}

/** `dimensions` and `count` come from the rows, the id from the store, the kind from whether there is a graph. */
export interface VersionDraft {
  /** The next one of this store unless given. */
  readonly id?: string | undefined;
  readonly info: Omit<IndexVersionInfo, 'id' | 'dimensions' | 'count' | 'kind'>;
  readonly rows: VectorRows;
  readonly graph?: HnswIndex;
  /** JSON of what the texts behind the vectors said; kept as it is, with its checksum. */
  readonly catalogue?: Uint8Array | undefined;
  /** What was learnt from those texts; kept likewise. */
  readonly heads?: Uint8Array | undefined;
}

/** Checksums of the ids and of the vectors of a version: two with the same hold the same, in the same order. */
export interface RowsDigest {
  readonly ids: string;
  readonly vectors: string;
}

/** A version that is whole on the disk but does not count yet. */
export interface StagedVersion {
  /** Name of its temporary folder. */
  readonly temp: string;
  readonly info: IndexVersionInfo;
  readonly rows: RowsDigest;
}

export type StagingStep = 'files_written' | 'sidecar_written';

const KEPT_VERSIONS = 3;
const TEMP_PREFIX = '.tmp-';
/** Nine digits: a folder of a higher number is none of ours, and must not push the next id out of what ids may be. */
const VERSION_FOLDER = /^v(\d{6,9})$/;
const LAST_NUMBER = 999_999_999;

/**
 * Index versions under `<dir>/versions`. A version appears whole or not at all: it is written to a temporary folder,
 * through to the disk, read back, and renamed. Nothing in it changes after that. Reads trust nothing but checksums.
 *
 * Errors: AR_ERR_INDEX_CORRUPT for a version that is not what it says or not what was expected, AR_ERR_NOT_FOUND for
 * one that is not there, AR_ERR_STORE_UNAVAILABLE when the disk refuses.
 */
export class VersionStore {
  readonly #root: string;
  readonly #keep: number;
  /** Highest number ever seen here; an id is not used again after its version was removed. */
  #lastNumber = 0;

  constructor(dir: string, options: { readonly keep?: number } = {}) {
    this.#root = join(dir, 'versions');
    this.#keep = Math.max(1, options.keep ?? KEPT_VERSIONS);
  }

  /** Makes the folder and removes what an interrupted write left. Not while a write runs. */
  async open(): Promise<void> {
    await onDisk('prepared', async () => {
      await mkdir(this.#root, { recursive: true });
      for (const name of await readdir(this.#root)) {
        if (name.startsWith(TEMP_PREFIX)) await rm(join(this.#root, name), { recursive: true, force: true });
      }
    });
  }

  /** Newest first. */
  async list(): Promise<VersionEntry[]> {
    const entries: VersionEntry[] = [];
    for (const id of await this.#folders()) {
      const sidecar = await this.#sidecarOf(id);
      entries.push(typeof sidecar === 'string' ? { id, problem: sidecar } : { id, info: sidecar.info });
    }
    return entries;
  }

  async nextId(): Promise<string> {
    await this.#folders();
    if (this.#lastNumber >= LAST_NUMBER)
      throw corrupt(`v${LAST_NUMBER}`, 'no number is left for a next one: remove it');
    return versionIdOf(this.#lastNumber + 1);
  }

  /** Writes a version to a temporary folder, which is removed when that fails or at the next `open`. */
  async stage(draft: VersionDraft, onStep: (step: StagingStep) => void = () => {}): Promise<StagedVersion> {
    return onDisk('written', async () => {
      await mkdir(this.#root, { recursive: true });
      const temp = `${TEMP_PREFIX}${randomUUID()}`;
      const folder = join(this.#root, temp);
      try {
        await mkdir(folder);
        const files = await writeContent(folder, draft);
        onStep('files_written');
        const id = draft.id ?? (await this.nextId());
        const { dimensions, ids } = draft.rows;
        const kind = draft.graph === undefined ? 'flat' : 'hnsw';
        const info: IndexVersionInfo = { id, ...draft.info, dimensions, kind, count: ids.length };
        await writeSidecar(folder, { info, files });
        await syncToDisk(folder);
        onStep('sidecar_written');
        return { temp, info, rows: rowsDigestOf(files, id) };
      } catch (error) {
        await rm(folder, { recursive: true, force: true }).catch(() => {});
        throw error;
      }
    });
  }

  /** A staged version as it would serve. */
  async loadStaged({ temp, info }: StagedVersion): Promise<LoadedVersion> {
    const sidecar = await this.#sidecarOf(temp);
    if (typeof sidecar === 'string') throw corrupt(info.id, sidecar);
    return { info: sidecar.info, index: await this.#readIndex(temp, sidecar) };
  }

  /** Makes a staged version count: one rename. Then removes the versions that are too many. */
  async commit({ temp, info }: StagedVersion, selfCheck = info.selfCheck): Promise<IndexVersionInfo> {
    return onDisk('written', async () => {
      const folder = join(this.#root, temp);
      const committed: IndexVersionInfo = selfCheck === undefined ? info : { ...info, selfCheck };
      if (selfCheck !== info.selfCheck) {
        const sidecar = await this.#sidecarOf(temp);
        if (typeof sidecar === 'string') throw corrupt(info.id, sidecar);
        await unlink(join(folder, SIDECAR_FILE));
        await writeSidecar(folder, { info: committed, files: sidecar.files });
        await syncToDisk(folder);
      }
      await rename(folder, join(this.#root, info.id));
      await syncToDisk(this.#root);
      await this.#prune(info.id);
      return committed;
    });
  }

  /** Of a version as its sidecar has it; undefined where there is none that holds. */
  async rowsDigestOf(id: string): Promise<RowsDigest | undefined> {
    if (!(await this.#folders()).includes(id)) return undefined;
    const sidecar = await this.#sidecarOf(id);
    return typeof sidecar === 'string' ? undefined : rowsDigestOf(sidecar.files, id);
  }

  async remove(id: string): Promise<void> {
    if (!VERSION_FOLDER.test(id)) return;
    await onDisk('removed', () => rm(join(this.#root, id), { recursive: true, force: true }));
  }

  async discard({ temp }: Pick<StagedVersion, 'temp'>): Promise<void> {
    await rm(join(this.#root, temp), { recursive: true, force: true }).catch(() => {});
  }

  async write(draft: VersionDraft): Promise<IndexVersionInfo> {
    const staged = await this.stage(draft);
    return this.commit(staged).catch(async (error: unknown) => {
      await this.discard(staged);
      throw error;
    });
  }

  async load(id: string, expected: ExpectedVersion = {}): Promise<LoadedVersion> {
    const sidecar = await this.#trusted(id);
    const { info } = sidecar;
    for (const field of ['modelId', 'fingerprint', 'dimensions', 'kind'] as const) {
      const wanted = expected[field];
      if (wanted !== undefined && info[field] !== wanted) {
        throw corrupt(id, `its ${field} is ${info[field]} instead of ${wanted}`);
      }
    }
    return { info, index: await this.#readIndex(id, sidecar) };
  }

  /** The catalogue that a version was built from, as it was handed over; undefined where none was. */
  async catalogueOf(id: string): Promise<Uint8Array | undefined> {
    const { files } = await this.#trusted(id);
    return CATALOGUE_FILE in files ? this.#read(id, files, CATALOGUE_FILE) : undefined;
  }

  /** What was learnt for a version, as it was handed over; undefined where nothing was. */
  async headsOf(id: string): Promise<Uint8Array | undefined> {
    const { files } = await this.#trusted(id);
    return HEADS_FILE in files ? this.#read(id, files, HEADS_FILE) : undefined;
  }

  /** Ids of the vectors of a version, some thousands at a time, between turns of the event loop. */
  async *idsOf(id: string): AsyncGenerator<string[], undefined> {
    const { files } = await this.#trusted(id);
    yield* parseStrings(Buffer.from(await this.#read(id, files, IDS_FILE)).toString('utf8'));
    return undefined;
  }

  /** The newest version that holds. Says which newer ones were refused and why; never throws for a bad version. */
  async loadNewest(
    expected: ExpectedVersion,
  ): Promise<{ readonly loaded?: LoadedVersion; readonly refused: readonly RefusedVersion[] }> {
    const refused: RefusedVersion[] = [];
    for (const id of await this.#folders()) {
      try {
        return { loaded: await this.load(id, expected), refused };
      } catch (error) {
        refused.push({ id, reason: errorText(error) });
      }
    }
    return { refused };
  }

  async #trusted(id: string): Promise<Sidecar> {
    if (!VERSION_FOLDER.test(id) || !(await this.#folders()).includes(id)) {
      throw new AgentReachError('AR_ERR_NOT_FOUND', { detail: `There is no index version ${id}.` });
    }
    const sidecar = await this.#sidecarOf(id);
    if (typeof sidecar === 'string') throw corrupt(id, sidecar);
    if (sidecar.info.id !== id) throw corrupt(id, `it is a copy of ${sidecar.info.id}`);
    return sidecar;
  }

  async #read(folder: string, files: Sidecar['files'], name: string): Promise<Uint8Array<ArrayBuffer>> {
    const content = await readVerified(join(this.#root, folder, name), digestIn(files, name, folder)).catch(
      (error: unknown) => `cannot be read: ${errorText(error)}`,
    );
    if (typeof content === 'string') throw corrupt(folder, `${name} ${content}`);
    return content;
  }

  async #readIndex(name: string, { info, files }: Sidecar): Promise<LoadedVersion['index']> {
    const folder = join(this.#root, name);
    const { id } = info;
    const ids = JSON.parse(Buffer.from(await this.#read(name, files, IDS_FILE)).toString('utf8')) as string[];
    const vectors = new Float32Array((await this.#read(name, files, ROWS_FILE)).buffer);
    const rows: VectorRows = { dimensions: info.dimensions, ids, vectors };
    for (const extra of [CATALOGUE_FILE, HEADS_FILE]) if (extra in files) await this.#read(name, files, extra);
    try {
      if (info.kind === 'flat') return FlatIndex.fromRows(rows);
      const path = join(folder, GRAPH_FILE);
      const expected = digestIn(files, GRAPH_FILE, id);
      const found = await digestOf(path).catch((error: unknown) => errorText(error));
      if (typeof found === 'string') throw corrupt(id, `${GRAPH_FILE} cannot be read: ${found}`);
      if (found.bytes !== expected.bytes) {
        throw corrupt(id, `${GRAPH_FILE} has ${found.bytes} bytes instead of ${expected.bytes}`);
      }
      if (found.sha256 !== expected.sha256) throw corrupt(id, `${GRAPH_FILE} does not match its checksum`);
      const options = { efSearch: info.efSearch ?? DEFAULT_HNSW.efSearch };
      // The rows were checked before the graph was built over them, and the checksum says that they are the same.
      const index = await HnswIndex.load(path, rows, options, true);
      index.setStrays(info.strays ?? []);
      return index;
    } catch (error) {
      throw isAgentReachError(error) && error.code !== 'AR_ERR_INDEX_CORRUPT' ? corrupt(id, error.message) : error;
    }
  }

  async #sidecarOf(id: string): Promise<Sidecar | string> {
    return readSidecar(join(this.#root, id)).catch(
      (error: unknown) => `its sidecar cannot be read: ${errorText(error)}`,
    );
  }

  /** Names of the version folders, newest first; none when the folder does not exist yet. */
  async #folders(): Promise<string[]> {
    const names = await readdir(this.#root).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw unavailable('listed', error);
    });
    const folders = names.filter((name) => VERSION_FOLDER.test(name)).sort((a, b) => numberOf(b) - numberOf(a));
    const newest = folders[0];
    if (newest !== undefined) this.#lastNumber = Math.max(this.#lastNumber, numberOf(newest));
    return folders;
  }

  /**
   * Keeps the newest whose sidecar holds, anything newer than the oldest of those, and the one just made: it may have
   * a lower number where all instances went back, or lost their store.
   */
  async #prune(made: string): Promise<void> {
    let good = 0;
    for (const { id, info } of await this.list()) {
      if (good >= this.#keep && id !== made) await rm(join(this.#root, id), { recursive: true, force: true });
      else if (info !== undefined) good++;
    }
  }
}

async function writeContent(folder: string, draft: VersionDraft): Promise<Record<string, FileDigest>> {
  const { ids, vectors } = draft.rows;
  const bytes = new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength);
  const files: Record<string, FileDigest> = {
    [IDS_FILE]: await writeDurably(join(folder, IDS_FILE), Buffer.from(JSON.stringify(ids))),
    [ROWS_FILE]: await writeDurably(join(folder, ROWS_FILE), bytes),
  };
  if (draft.catalogue !== undefined) {
    files[CATALOGUE_FILE] = await writeDurably(join(folder, CATALOGUE_FILE), draft.catalogue);
  }
  if (draft.heads !== undefined) files[HEADS_FILE] = await writeDurably(join(folder, HEADS_FILE), draft.heads);
  if (draft.graph !== undefined) {
    const path = join(folder, GRAPH_FILE);
    draft.graph.saveGraphTo(path);
    await syncToDisk(path);
    // hnswlib reports no failed write, a full disk for example: only a file that reads back is a written one.
    await HnswIndex.load(path, draft.rows).catch((cause: unknown) => {
      throw unavailable('written', cause);
    });
    files[GRAPH_FILE] = await digestOf(path);
  }
  return files;
}

function rowsDigestOf(files: Sidecar['files'], id: string): RowsDigest {
  return { ids: digestIn(files, IDS_FILE, id).sha256, vectors: digestIn(files, ROWS_FILE, id).sha256 };
}

function digestIn(files: Sidecar['files'], name: string, id: string): FileDigest {
  const digest = files[name];
  if (digest === undefined) throw corrupt(id, `its sidecar does not list ${name}`);
  return digest;
}

export function numberOf(id: string): number {
  return Number(id.slice(1));
}

export function versionIdOf(number: number): string {
  return `v${String(number).padStart(6, '0')}`;
}

function corrupt(id: string, reason: string): AgentReachError {
  return new AgentReachError('AR_ERR_INDEX_CORRUPT', { detail: `Index version ${id} cannot be used: ${reason}.` });
}

function unavailable(done: string, cause: unknown): AgentReachError {
  const detail = `The index versions cannot be ${done}: ${errorText(cause)}`;
  return new AgentReachError('AR_ERR_STORE_UNAVAILABLE', { detail, cause });
}

async function onDisk<Result>(done: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw isAgentReachError(error) ? error : unavailable(done, error);
  }
}
