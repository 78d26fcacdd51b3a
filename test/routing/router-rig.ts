/** A router over real parts (hash embedder, memory store, real indexes, real rules) and sketched agents. */

import { type CapabilityDefinition, readDefinitions, unionMeaning } from '../../src/capability/index.ts';
import type { CapabilityObject, RouteRequest } from '../../src/contract/index.ts';
import { routeRequestSchema } from '../../src/contract/index.ts';
import { ManualClock } from '../../src/core/index.ts';
import { HashEmbedder, type ModelCalibration } from '../../src/embedding/index.ts';
import { Bm25Index } from '../../src/lexical-index/index.ts';
import type { RegisteredAgent } from '../../src/registry/index.ts';
import { CapabilityIndexer, Router } from '../../src/routing/index.ts';
import { DEFAULT_ROUTING, type RoutingOptions } from '../../src/routing/routing-options.ts';
import { AuditLog, RuleService } from '../../src/rules/index.ts';
import { KeyValueAuditStore, KeyValueRuleStore, KeyValueVectorStore, MemoryStore } from '../../src/storage/index.ts';
import { LayeredIndex } from '../../src/vector-index/index.ts';
import { type AgentSketch, agent, seededRandom, viewOf } from './agents.ts';

/** The hash embedder knows words, not meaning: half the words in common counts as even odds. */
export const CALIBRATION: ModelCalibration = {
  lexicalWeight: 0.3,
  hybrid: { slope: 12, crowdSlope: 0, intercept: -4 },
  lexical: { slope: 12, crowdSlope: 0, intercept: -2 },
};

export async function routerRig(options: Partial<RoutingOptions> = {}) {
  const clock = new ManualClock();
  const embedder = new HashEmbedder();
  await embedder.start();
  const store = new MemoryStore();
  const vectors = new LayeredIndex(embedder.info.dimensions);
  const indexer = new CapabilityIndexer({
    clock,
    embedder,
    vectorStore: new KeyValueVectorStore(store),
    vectors,
    createLexicalIndex: () => new Bm25Index(),
    nearDuplicateSimilarity: 0.93,
  });
  await indexer.start();
  const rules = new RuleService({ clock, store: new KeyValueRuleStore(store) });
  await rules.load();
  const audit = new AuditLog({ clock, store: new KeyValueAuditStore(store), keepText: true, keepDays: 90 });
  await audit.start();
  const agents: RegisteredAgent[] = [];
  const router = new Router({
    clock,
    random: seededRandom(3),
    embedder,
    calibration: CALIBRATION,
    indexer,
    view: viewOf(agents),
    rules,
    audit,
    indexVersion: () => vectors.versionId,
    options: () => ({ ...DEFAULT_ROUTING, ...options }),
    cache: { ttlMs: 60_000, maxEntries: 1_000 },
  });

  async function register(sketch: Omit<AgentSketch, 'capabilities'>, capabilities: CapabilityObject[]): Promise<void> {
    const namespace = sketch.namespace ?? 'default';
    const definitions: CapabilityDefinition[] = readDefinitions(capabilities, []);
    const meanings = definitions.map((one) => unionMeaning(namespace, one.name, [one], undefined));
    await indexer.prepare(meanings);
    agents.push(agent({ ...sketch, capabilities: definitions.map(({ name }) => name) }));
    indexer.apply(meanings);
  }

  function replace(sketch: AgentSketch): void {
    const at = agents.findIndex(({ record }) => record.agentId === sketch.id);
    agents.splice(at, 1, agent(sketch));
  }

  const ask = (fields: Partial<RouteRequest>, scopes: readonly string[] = ['*']) =>
    router.route(
      {
        ...routeRequestSchema.parse(fields.intent === undefined ? { capability: 'a.b.c' } : { intent: 'x' }),
        ...fields,
      },
      { requestId: 'req_test', scopes: new Set(scopes) },
    );

  return { clock, embedder, indexer, vectors, rules, router, agents, audit, store, register, replace, ask };
}

export const WEATHER: CapabilityObject = {
  name: 'weather.query.city',
  description: 'weather forecast for a city',
  examples: ['明天杭州会下雨吗', 'will it rain tomorrow'],
  aliases: ['weather report'],
};
export const MAIL: CapabilityObject = { name: 'mail.send.message', description: 'send an email to somebody' };

/** One for each of the two. */
export async function twoAgents() {
  const rig = await routerRig();
  await rig.register({ id: 'weather-1' }, [WEATHER]);
  await rig.register({ id: 'mail-1' }, [MAIL]);
  return rig;
}
