import type { CapabilityMeaning } from '../capability/index.ts';
import type { IndexDiff } from '../contract/index.ts';
import { AgentReachError, type ContentHash, nextTurn } from '../core/index.ts';
import type { IndexedCapability } from './indexed-capability.ts';

/**
 * The meanings that an index version was built from, as they lie in its folder: what a rollback brings back and what
 * two versions differ by. One JSON object a line, so that it can be written between turns of the event loop.
 */
const SLICE_ENTRIES = 64;

export const keyOf = (of: { readonly namespace: string; readonly name: string }): string =>
  `${of.namespace}/${of.name}`;

/** About 5 ms of JSON for 10k capabilities, never more than a slice at a time. */
export async function encodeCatalogue(entries: readonly IndexedCapability[]): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Buffer[] = [];
  for (let from = 0; from < entries.length; from += SLICE_ENTRIES) {
    const lines = entries.slice(from, from + SLICE_ENTRIES).map((entry) => `${JSON.stringify(entry.meaning)}\n`);
    parts.push(Buffer.from(lines.join('')));
    await nextTurn();
  }
  // A buffer of its own: it is moved to another thread, which a slice of Node's pool must not be.
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** The bytes carry a checksum of ours, so their shape needs no further check. */
export async function decodeCatalogue(bytes: Uint8Array): Promise<CapabilityMeaning[]> {
  const meanings: CapabilityMeaning[] = [];
  for (const line of Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').split('\n')) {
    if (line !== '') meanings.push(JSON.parse(line) as CapabilityMeaning);
    if (meanings.length % SLICE_ENTRIES === 0) await nextTurn();
  }
  return meanings;
}

/** The same for the same set of meanings, whatever their order: the sum of their hashes. */
export function digestOfHashes(hashes: Iterable<ContentHash>): string {
  const sums = new Uint32Array(4);
  for (const hash of hashes) {
    for (let i = 0; i < 4; i++) sums[i] = (sums[i] ?? 0) + Number.parseInt(hash.slice(i * 8, i * 8 + 8), 16);
  }
  return Array.from(sums, (sum) => sum.toString(16).padStart(8, '0')).join('');
}

export function missingCatalogue(version: string): AgentReachError {
  return new AgentReachError('AR_ERR_INDEX_NO_CATALOGUE', {
    detail: `Index version ${version} holds no catalogue of its texts; it was written before there were any. A rebuild writes one.`,
  });
}

type Lists = 'descriptions' | 'aliases' | 'examples';
const LISTS: readonly Lists[] = ['descriptions', 'aliases', 'examples'];

/** What changed from one catalogue to another, by namespace and name. */
export function diffCatalogues(
  from: readonly CapabilityMeaning[],
  to: readonly CapabilityMeaning[],
): Pick<IndexDiff, 'added' | 'removed' | 'changed'> {
  const before = new Map(from.map((meaning) => [keyOf(meaning), meaning]));
  const after = new Map(to.map((meaning) => [keyOf(meaning), meaning]));
  const byKey = [...new Set([...before.keys(), ...after.keys()])].sort();
  const diff: { -readonly [K in 'added' | 'removed' | 'changed']: IndexDiff[K] } = {
    added: [],
    removed: [],
    changed: [],
  };
  for (const key of byKey) {
    const [old, now] = [before.get(key), after.get(key)];
    if (now === undefined && old !== undefined) diff.removed.push({ namespace: old.namespace, capability: old.name });
    else if (now !== undefined && old === undefined)
      diff.added.push({ namespace: now.namespace, capability: now.name });
    else if (now !== undefined && old !== undefined) {
      const texts = textChanges(old, now);
      if (texts.length === 0 && old.sensitive === now.sensitive) continue;
      const sensitive = old.sensitive === now.sensitive ? null : now.sensitive;
      diff.changed.push({ namespace: now.namespace, capability: now.name, texts, sensitive });
    }
  }
  return diff;
}

function textChanges(old: CapabilityMeaning, now: CapabilityMeaning): IndexDiff['changed'][number]['texts'] {
  return LISTS.flatMap((list) => [
    ...old[list]
      .filter((text) => !now[list].includes(text))
      .map((text) => ({ list, change: 'removed' as const, text })),
    ...now[list].filter((text) => !old[list].includes(text)).map((text) => ({ list, change: 'added' as const, text })),
  ]);
}
