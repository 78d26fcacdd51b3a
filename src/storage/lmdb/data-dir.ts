/** The data directory, made where it is missing, checked to be writable, and owned by this process until released. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorText } from '../../core/index.ts';
import { storeUnavailable } from '../key-value-store.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';

/**
 * `folder` lies in `dataDir` and is made too. Errors: AR_ERR_STORE_IN_USE while another process owns the directory;
 * AR_ERR_STORE_UNAVAILABLE where it cannot be used.
 */
export async function lockDataDir(dataDir: string, folder = dataDir): Promise<DirectoryLock> {
  const path = resolve(dataDir);
  makeFolder(resolve(folder), path);
  return lockDirectory(path);
}

function makeFolder(folder: string, dataDir: string): void {
  try {
    makeFolders(folder);
    for (const path of [dataDir, folder]) accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw storeUnavailable(
      `DATA_DIR ${dataDir} cannot be used as a folder to write in (${errorText(error)}): set DATA_DIR to one that can`,
      error,
    );
  }
}

/** Not mkdir's `recursive`: in a place such as /proc, where nothing can be made, it never returns (Node 20). */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
