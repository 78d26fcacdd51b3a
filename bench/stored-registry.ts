/**
 * A data folder with many capabilities, as a service leaves it: agents, dictionary and vectors in the store. The
 * vectors are made up (clustered unit vectors), so that 100,000 of them take seconds instead of minutes: good for
 * speed, memory and recall, not for what a route means.
 */
import type { CapabilityDefinition, DictionaryEntry } from '../src/capability/index.ts';
import { type AgentId, type CapabilityName, type ContentHash, contentHash, type LeaseId } from '../src/core/index.ts';
import { DEFAULT_MODEL_ID, modelById } from '../src/embedding/index.ts';
import type { AgentRecord } from '../src/registry/index.ts';
import { KeyValueAgentStore, KeyValueVectorStore, LmdbStore } from '../src/storage/index.ts';
import type { VectorRows } from '../src/vector-index/index.ts';

const CAPABILITIES_AN_AGENT = 50;

export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Unit vectors around one centre for every 20 of them, as texts of one domain lie. */
export function clusteredRows(count: number, dimensions: number, seed: number): VectorRows {
  const random = seeded(seed);
  const gauss = (): number => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
  const centres = Array.from({ length: Math.ceil(count / 20) }, () => Array.from({ length: dimensions }, gauss));
  const vectors = new Float32Array(count * dimensions);
  for (let row = 0; row < count; row++) {
    const centre = centres[row % centres.length] ?? [];
    let norm = 0;
    for (let i = 0; i < dimensions; i++) {
      const value = (centre[i] ?? 0) + 0.8 * gauss();
      vectors[row * dimensions + i] = value;
      norm += value * value;
    }
    const scale = 1 / Math.sqrt(norm);
    for (let i = 0; i < dimensions; i++) vectors[row * dimensions + i] = (vectors[row * dimensions + i] ?? 0) * scale;
  }
  return { dimensions, ids: Array.from({ length: count }, (_, i) => `id-${i}`), vectors };
}

export function capabilityName(i: number): CapabilityName {
  return `domain_${i % 97}.action_${i % 13}.object_${i}` as CapabilityName;
}

/** One text a capability: its name. */
export async function writeStoredRegistry(dataDir: string, count: number): Promise<void> {
  const model = modelById(DEFAULT_MODEL_ID);
  const rows = clusteredRows(count, model.dimensions, 11);
  const store = await LmdbStore.open({ dataDir });
  const vectors = new KeyValueVectorStore(store);
  const agents = new KeyValueAgentStore(store);
  const now = Date.now();
  for (let first = 0; first < count; first += 5_000) {
    const made = new Map<ContentHash, Float32Array>();
    for (let i = first; i < Math.min(count, first + 5_000); i++) {
      const text = capabilityName(i).replace(/[._]/g, ' ');
      made.set(contentHash(text), rows.vectors.slice(i * model.dimensions, (i + 1) * model.dimensions));
    }
    await vectors.putMany(model.fingerprint, made);
  }
  const putAgents: AgentRecord[] = [];
  const putEntries: DictionaryEntry[] = [];
  for (let first = 0; first < count; first += CAPABILITIES_AN_AGENT) {
    const names = Array.from({ length: Math.min(CAPABILITIES_AN_AGENT, count - first) }, (_, k) =>
      capabilityName(first + k),
    );
    putAgents.push(record(`agent-${first}`, names, now));
    for (const name of names) putEntries.push(entry(name, `agent-${first}`, now));
  }
  await agents.commit({ putAgents, putEntries });
  await store.close();
}

function record(agentId: string, names: readonly CapabilityName[], now: number): AgentRecord {
  const capabilities: CapabilityDefinition[] = names.map((name) => ({
    name,
    description: null,
    examples: [],
    aliases: [],
    sensitive: false,
  }));
  return {
    agentId: agentId as AgentId,
    agentName: agentId,
    version: '1.0.0',
    namespace: 'default',
    capabilities,
    transport: { type: 'local' },
    heartbeatIntervalMs: 3_600_000,
    timeoutMs: 5_000,
    maxConcurrency: 8,
    idempotent: false,
    zone: null,
    tags: {},
    metadata: {},
    leaseId: `lease_${agentId}` as LeaseId,
    incarnation: 1,
    revision: 1,
    registeredAt: now,
    expiresAt: null,
    offlineAt: null,
    cordoned: null,
    drain: null,
  };
}

function entry(name: CapabilityName, firstOwner: string, firstSeenAt: number): DictionaryEntry {
  return {
    namespace: 'default',
    name,
    firstOwner,
    firstSeenAt,
    status: 'active',
    replacedBy: null,
    sensitive: false,
    description: null,
    examples: [],
    revision: 0,
  };
}
