/**
 * Says that a file may have changed, however it was changed: written in place, renamed over by an editor, or swapped
 * by a symlink anywhere on its path, as Kubernetes does with mounted volumes. So not the file is watched but every
 * folder that decides what its path leads to. It may say so without cause; whoever listens compares the content.
 */
import { type FSWatcher, lstatSync, readlinkSync, watch } from 'node:fs';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { type CancelTimer, type Clock, errorText, log } from '../core/index.ts';

export interface FileWatchOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Never throws. */
  readonly onChange: () => void;
}

/** Quiet time after an event: a file is written in several steps, and a half of it may read as a whole. */
const QUIET_MS = 100;
/** At least this soon while events keep coming. */
const PATIENCE_MS = 1_000;
/** For file systems that tell of no events (NFS, some bind mounts), and for watches that the system refuses. */
const LOOK_MS = 10_000;
/** As many as Linux follows before it says ELOOP. */
const MAX_SYMLINKS = 40;

export class FileWatch {
  readonly #options: FileWatchOptions;
  #watchers: FSWatcher[] = [];
  #cancelLook: CancelTimer | null = null;
  #cancelQuiet: CancelTimer | null = null;
  #firstEventAt: number | null = null;
  #isRefused = false;
  #isStopped = false;

  constructor(options: FileWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#arm();
    this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
    this.#disarm();
    this.#cancelLook?.();
    this.#cancelQuiet?.();
  }

  #lookLater(): void {
    this.#cancelLook = this.#options.clock.schedule(LOOK_MS, () => {
      this.#settle();
      this.#lookLater();
    });
  }

  #onEvent(): void {
    const { clock } = this.#options;
    this.#firstEventAt ??= clock.now();
    const waited = clock.now() - this.#firstEventAt;
    this.#cancelQuiet?.();
    this.#cancelQuiet = clock.schedule(Math.max(0, Math.min(QUIET_MS, PATIENCE_MS - waited)), () => this.#settle());
  }

  /** Watches first, then tells: what changes in between is seen by the new watches. */
  #settle(): void {
    if (this.#isStopped) return;
    this.#firstEventAt = null;
    this.#cancelQuiet?.();
    this.#arm();
    this.#options.onChange();
  }

  /** Anew each time: the folders may be others now, or others under the same name. */
  #arm(): void {
    this.#disarm();
    for (const folder of decidingFolders(this.#options.path)) {
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#onEvent());
        // A watched folder that is deleted; the folder above, or the next look, finds what came in its place.
        watcher.on('error', () => watcher.close());
        this.#watchers.push(watcher);
      } catch (error) {
        if (!this.#isRefused) log('warn', 'a folder cannot be watched', { folder, reason: errorText(error) });
        this.#isRefused = true;
      }
    }
  }

  #disarm(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }
}

/** The folder of the file, and of each symlink on the way to it; as far as the path leads anywhere. */
export function decidingFolders(path: string): ReadonlySet<string> {
  const folders = new Set<string>();
  let rest = resolve(path);
  for (let symlinks = 0; symlinks <= MAX_SYMLINKS; symlinks++) {
    const next = firstSymlink(rest);
    folders.add(dirname(next.at));
    if (next.target === null) break;
    rest = next.target;
  }
  return folders;
}

/** The first symlink on a path and the path that it stands for; else the path, or its first part that is not there. */
function firstSymlink(path: string): { readonly at: string; readonly target: string | null } {
  const { root } = parse(path);
  const names = path.slice(root.length).split(sep);
  let at = root;
  for (const [i, name] of names.entries()) {
    at = join(at, name);
    try {
      if (!lstatSync(at).isSymbolicLink()) continue;
      return { at, target: join(resolve(dirname(at), readlinkSync(at)), ...names.slice(i + 1)) };
    } catch {
      return { at, target: null };
    }
  }
  return { at: path, target: null };
}
