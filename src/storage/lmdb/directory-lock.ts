/**
 * One owner of a data directory at a time, proved by the kernel and not by a note: the owner listens on a Unix socket
 * of its own name inside the directory. A socket of a dead process refuses connections, so kill -9 needs no clean-up;
 * a stopped or busy owner still takes them, and other containers that mount the directory see it too.
 *
 * Safe without a second lock: every contender first shows its own socket, then looks at all the others, so of any two
 * the later one sees the earlier. Names are never used again, so removing a dead one cannot hit a live one. Two that
 * start in the same instant may both be refused; never may both own.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { createServer, connect as openConnection, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentReachError } from '../../core/index.ts';
import { storeUnavailable } from '../key-value-store.ts';

const OWNER_SOCKET = /^owner-[0-9a-f]{16}\.sock$/;
/** sun_path holds 104 bytes on macOS and 108 on Linux, with the final NUL. */
const MAX_SOCKET_PATH_BYTES = 103;
const NAME_BYTES = '/owner-0123456789abcdef.sock.new'.length;

export interface DirectoryLock {
  release(): Promise<void>;
}

export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const folder = socketFolder(realpathSync(directory));
  const name = `owner-${randomBytes(8).toString('hex')}.sock`;
  const path = join(folder, name);
  const server = await listen(`${path}.new`).catch((error: unknown) => {
    throw storeUnavailable(`cannot make a socket in ${folder} to mark ${directory} as owned`, error);
  });
  const release = async (): Promise<void> => {
    rmSync(path, { force: true });
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  try {
    // Bound but not yet listening looks dead to others: it gets its visible name only now that it listens.
    renameSync(`${path}.new`, path);
    await refuseOtherOwners(directory, folder, name);
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

async function refuseOtherOwners(directory: string, folder: string, ownName: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (name === ownName || !OWNER_SOCKET.test(name)) continue;
    if (await isAlive(join(folder, name))) {
      throw new AgentReachError('AR_ERR_STORE_IN_USE', {
        detail: `another process owns ${directory} (is the service already running from this folder?): stop it, or set DATA_DIR to another directory`,
      });
    }
    rmSync(join(folder, name), { force: true });
  }
}

/** Inside the directory where its path is short enough, else a folder named after it that every process finds. */
function socketFolder(directory: string): string {
  if (Buffer.byteLength(directory) + NAME_BYTES <= MAX_SOCKET_PATH_BYTES) return directory;
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `agent-reach-${hash}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    // Connecting is the whole answer.
    const server = createServer((connection) => connection.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      server.unref();
      server.off('error', reject);
      // Accepting may fail later (no file descriptors left); the kernel still answers that the socket lives.
      server.on('error', () => undefined);
      resolve(server);
    });
  });
}

/** ECONNREFUSED and ENOENT mean dead or gone; any other trouble counts as alive: never take what may be owned. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = openConnection(path);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', (error: NodeJS.ErrnoException) => {
      connection.destroy();
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}
