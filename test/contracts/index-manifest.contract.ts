import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentHash } from '../../src/core/index.ts';
import type { IndexHold, IndexManifest, SharedVersion } from '../../src/routing/index.ts';
import { KeyValueManifestStore, type KeyValueStore } from '../../src/storage/index.ts';

export function sharedVersion(id: string): SharedVersion {
  const part = { sha256: '0', pieces: 1 };
  return {
    info: {
      ...{ id, modelId: 'm', fingerprint: 'model-a', dimensions: 2, kind: 'hnsw', count: 3, builtAt: '', buildMs: 1 },
      ...{ by: 'ops', why: 'command', embedded: 3, reused: 0, removed: 0, catalogueDigest: 'd' },
    },
    rows: { ids: 'i', vectors: 'v' },
    absent: [contentHash('no vector yet')],
    catalogue: part,
    heads: null,
  };
}

const HOLD: IndexHold = { version: 'v000001', heldAt: 5, by: 'ops', liveHashes: { 'default/a.b.c': 'hash' } };

/** `restarted`: over the same data after a restart; the same store where the backend forgets. */
export function indexManifestTests(
  bench: () => { readonly store: KeyValueStore; restarted(): Promise<KeyValueStore> },
): void {
  const manifest = (fence: number): IndexManifest => ({
    fence,
    current: 'v000001',
    versions: [sharedVersion('v000002'), sharedVersion('v000001')],
  });

  test('keeps the manifest of each model, with what a rollback holds', async () => {
    const first = new KeyValueManifestStore(bench().store, 'model-a');
    expect(await first.load()).toEqual({ manifest: undefined, hold: undefined });
    await first.save(manifest(7), HOLD);
    await first.of('model-b').save(manifest(2), null);
    const later = new KeyValueManifestStore(await bench().restarted(), 'model-a');
    expect(await later.load()).toEqual({ manifest: manifest(7), hold: HOLD });
    expect(await later.others()).toEqual([{ fingerprint: 'model-b', manifest: manifest(2) }]);
    await later.save(manifest(8), null);
    expect(await later.load()).toEqual({ manifest: manifest(8), hold: undefined });
  });

  test('keeps the parts of a version, small and of many pieces, and knows when one is not whole', async () => {
    const { store } = bench();
    const manifests = new KeyValueManifestStore(store, 'model-a');
    // Random bytes do not shrink: three pieces.
    const bytes = new Uint8Array(randomBytes(1_200_000));
    const [small, large] = [
      await manifests.putPart('v000001', 'catalogue', Buffer.from('{"name":"a.b.c"}\n')),
      await manifests.putPart('v000001', 'heads', bytes),
    ];
    expect(large.pieces).toBe(3);
    const later = new KeyValueManifestStore(await bench().restarted(), 'model-a');
    expect(Buffer.from(await later.part('v000001', 'catalogue', small)).toString()).toBe('{"name":"a.b.c"}\n');
    // Compared as buffers: a million numbers one by one take minutes.
    expect(Buffer.from(await later.part('v000001', 'heads', large)).equals(bytes)).toBe(true);
    const corrupt = { code: 'AR_ERR_INDEX_CORRUPT' };
    await expect(later.part('v000001', 'heads', { ...large, sha256: small.sha256 })).rejects.toMatchObject(corrupt);
    await expect(later.part('v000001', 'heads', { ...large, pieces: 4 })).rejects.toMatchObject(corrupt);
    await expect(later.part('v000002', 'catalogue', small)).rejects.toMatchObject(corrupt);
  });

  test('removes the parts of versions that are not kept, and all of a model that is forgotten', async () => {
    const manifests = new KeyValueManifestStore(bench().store, 'model-a');
    const other = manifests.of('model-b');
    const parts = new Map<string, Awaited<ReturnType<typeof manifests.putPart>>>();
    for (const id of ['v000001', 'v000002']) {
      parts.set(id, await manifests.putPart(id, 'catalogue', Buffer.from(id)));
      await other.putPart(id, 'catalogue', Buffer.from(id));
    }
    await other.save(manifest(2), HOLD);
    await manifests.pruneParts((id) => id === 'v000002');
    const read = (of: typeof manifests, id: string) => {
      const part = parts.get(id);
      return part === undefined ? Promise.reject(new Error('no part')) : of.part(id, 'catalogue', part);
    };
    await expect(read(manifests, 'v000001')).rejects.toMatchObject({ code: 'AR_ERR_INDEX_CORRUPT' });
    expect(Buffer.from(await read(manifests, 'v000002')).toString()).toBe('v000002');
    expect(Buffer.from(await read(other, 'v000001')).toString()).toBe('v000001');
    await manifests.forget('model-b');
    expect(await manifests.others()).toEqual([]);
    expect(await other.load()).toEqual({ manifest: undefined, hold: undefined });
    await expect(read(other, 'v000001')).rejects.toMatchObject({ code: 'AR_ERR_INDEX_CORRUPT' });
    expect(Buffer.from(await read(manifests, 'v000002')).toString()).toBe('v000002');
  });
}
