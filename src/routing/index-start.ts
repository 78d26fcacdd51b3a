import type { CapabilityMeaning } from '../capability/index.ts';
import { errorText, log } from '../core/index.ts';
import type { ExpectedVersion, IndexVersionInfo, LoadedVersion, VersionStore } from '../vector-index/index.ts';
import { decodeCatalogue, missingCatalogue } from './catalogue.ts';
import type { IndexHold, IndexHolder } from './index-hold.ts';

/**
 * Which version a start found to serve, and what became of the others. Kept as long as the service runs, so it holds
 * no vectors: those of the first version would stay in memory beside those of the one that serves.
 */
export interface IndexStart {
  readonly info: IndexVersionInfo | undefined;
  /** What was learnt for it, as it lies beside it. */
  readonly heads: Uint8Array | undefined;
  /** What a rollback before the start holds. */
  readonly held: { readonly hold: IndexHold; readonly meanings: readonly CapabilityMeaning[] } | undefined;
  readonly refused: readonly { readonly id: string; readonly problem: string }[];
  /** In words, for /readyz. */
  readonly note: string;
  /** Why the first rebuild runs. */
  readonly firstWhy: 'start' | 'model_change';
}

/**
 * The version that a rollback holds, else the newest that can be used, else none: then vectors come from the store
 * and a rebuild follows. Never fails for a bad version; each refusal is logged with its reason. `isShared`: the rollback
 * is that of all instances; this one follows it once it has a copy of the version.
 */
export async function startIndex(
  store: VersionStore,
  holder: IndexHolder,
  expected: ExpectedVersion,
  isShared = false,
): Promise<{ readonly loaded: LoadedVersion | undefined; readonly start: IndexStart }> {
  const hold = await holder.load();
  if (hold !== null) {
    try {
      const loaded = await store.load(hold.version, expected);
      const catalogue = await store.catalogueOf(hold.version);
      if (catalogue === undefined) throw missingCatalogue(hold.version);
      const held = { hold, meanings: await decodeCatalogue(catalogue) };
      const heads = await store.headsOf(hold.version);
      const note = `loaded ${hold.version}, held by a rollback`;
      return { loaded, start: { info: loaded.info, heads, held, refused: [], note, firstWhy: 'start' } };
    } catch (error) {
      const reason = errorText(error);
      if (isShared) log('info', 'a version that a rollback holds is made anew', { version: hold.version, reason });
      else {
        log('warn', 'the rollback is over: its version cannot be used', { version: hold.version, reason });
        await holder.end();
      }
    }
  }
  const { loaded, refused } = await store.loadNewest(expected);
  for (const { id, reason } of refused) log('warn', 'an index version on disk was refused', { version: id, reason });
  const others = refused.length === 0 ? '' : `; refused ${refused.map(({ id }) => id).join(', ')}`;
  const found = loaded === undefined ? 'no version to load, vectors come from the store' : `loaded ${loaded.info.id}`;
  const note = found + others;
  log(refused.length === 0 ? 'info' : 'warn', 'the index starts', { note });
  const isOtherModel = loaded === undefined && (await isOfAnotherModel(store, expected));
  const start: IndexStart = {
    info: loaded?.info,
    heads: loaded === undefined ? undefined : await store.headsOf(loaded.info.id),
    held: undefined,
    refused: refused.map(({ id, reason }) => ({ id, problem: `${reason} A rebuild makes a usable one.` })),
    note: isOtherModel ? `${note}; the model changed` : note,
    firstWhy: isOtherModel ? 'model_change' : 'start',
  };
  return { loaded, start };
}

async function isOfAnotherModel(store: VersionStore, { fingerprint }: ExpectedVersion): Promise<boolean> {
  const newest = (await store.list()).find(({ info }) => info !== undefined)?.info;
  return newest !== undefined && newest.fingerprint !== fingerprint;
}
