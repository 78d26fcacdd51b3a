/**
 * Every setting of the service, once: section, key (unit in its name), rule, default, and one sentence for people.
 * Environment names, `agent-reach config` and the refusals are all made from this schema.
 */
import { z } from 'zod';
import { REDIS_URL_FORM, readRedisAddress } from '../redis/index.ts';
import { DEFAULT_REGISTRY, isNetwork } from '../registry/index.ts';

/** What a reader needs beside the rule: the unit, what rising the value does, what 0 means. */
type KeyNote = {
  readonly unit: string;
  readonly about: string;
  /** Never shown as it is. */
  readonly secret?: true;
};

const note = (unit: string, about: string): KeyNote => ({ unit, about });
const secret = (unit: string, about: string): KeyNote => ({ unit, about, secret: true });

/** Longest wait that a Node timer takes (2^31 - 1 ms). */
const MAX_TIMER_MS = 2_147_483_647;
const ms = (least = 0) => z.int().min(least).max(MAX_TIMER_MS);
const count = (least: number, most: number) => z.int().min(least).max(most);
const share = z.number().min(0).max(1);
const filledText = (message: string) =>
  z
    .string()
    .max(1_024)
    .refine((value) => value.trim() !== '' && !value.includes('\0'), { message });

const apiKeySchema = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { message: 'must be 1-64 of A-Z a-z 0-9 . _ -' }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, {
    message: 'must be the SHA-256 of the key, 64 lower-case hex digits: printf %s "$KEY" | sha256sum',
  }),
  scopes: z.array(z.string().regex(/^\S{1,64}$/, { message: 'must be 1-64 characters without spaces' })).min(1),
});

/** Other tools write LOG_LEVEL=INFO. */
const logLevelSchema = z.preprocess(
  (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  z.enum(['silent', 'error', 'warn', 'info', 'debug']),
);

const httpSchema = z.strictObject({
  host: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]{1,255}$/, { message: 'must be a host name or an IP address' })
    .default('127.0.0.1')
    .meta(note('address', 'Where the service listens; anything but loopback needs auth.apiKeys.')),
  port: count(0, 65_535).default(7_420).meta(note('port', 'TCP port; 0 takes a free one and prints it.')),
  bodyLimitBytes: count(1_024, 268_435_456)
    .default(1_048_576)
    .meta(
      note('bytes', 'Largest request body, 16 MiB at least for a rule import; higher takes more memory a request.'),
    ),
  stopTimeoutMs: ms()
    .default(8_000)
    .meta(note('ms', 'How long running requests may take to end at a stop; 0 cuts them at once.')),
});

const dataSchema = z.strictObject({
  dir: filledText('must name a folder')
    .default('./data')
    .meta(note('folder', 'Store and index versions; made when missing, owned by one process.')),
});

const redisSchema = z.strictObject({
  url: z
    .string()
    .refine((url) => readRedisAddress(url) !== null, { message: `must be ${REDIS_URL_FORM}` })
    .nullable()
    .default(null)
    .meta(
      secret('url', 'Keep agents, dictionary and rules in this Redis, shared by all instances; none: in data.dir.'),
    ),
  prefix: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, { message: 'must be 1-32 of a-z 0-9 _ - and start with a letter or digit' })
    .default('agent-reach')
    .meta(note('name', 'Before every key in Redis; instances with another one are another service.')),
});

const authSchema = z.strictObject({
  apiKeys: z
    .array(apiKeySchema)
    .max(1_000)
    .default([])
    .meta(secret('list', 'Who may call: {id, sha256, scopes}. Empty: no key is asked for, on loopback only.')),
});

const logSchema = z.strictObject({
  level: logLevelSchema.default('info').meta(note('level', 'Least important line that is written.')),
});

const modelSchema = z.strictObject({
  id: filledText('must be the id of a model')
    .default('zh-en-small')
    .meta(note('name', 'Model of the catalogue; another one rebuilds the whole index.')),
  path: filledText('must name a folder')
    .nullable()
    .default(null)
    .meta(note('folder', 'Where the model folders are; none: the bundled models.')),
});

const embedderSchema = z.strictObject({
  maxQueuedQueries: count(1, 1_000_000)
    .default(1_024)
    .meta(note('texts', 'Waiting intents before new ones are refused; higher trades refusals for waiting.')),
  maxQueuedDocuments: count(1, 10_000_000)
    .default(65_536)
    .meta(note('texts', 'Waiting registration texts before new ones are refused.')),
  cacheEntries: count(0, 1_000_000)
    .default(8_192)
    .meta(note('vectors', 'Recent vectors kept, 1.5 KB each; 0 keeps none.')),
  runTimeoutMs: ms(100)
    .default(10_000)
    .meta(note('ms', 'A run longer than this counts as hung and restarts the model worker.')),
  loadTimeoutMs: ms(1_000)
    .default(60_000)
    .meta(note('ms', 'Time for loading the model before it counts as failed and is tried again.')),
});

const registrySchema = z.strictObject({
  missedBeats: count(1, 100)
    .default(DEFAULT_REGISTRY.missedBeats)
    .meta(note('beats', 'Heartbeats missed before an agent is offline; higher forgives more and reacts later.')),
  keepOfflineMs: ms()
    .default(DEFAULT_REGISTRY.keepOfflineMs)
    .meta(note('ms', 'How long an offline agent stays visible; 0 forgets it at once.')),
  preserveMs: count(0, 900_000)
    .default(DEFAULT_REGISTRY.preserveMs)
    .meta(note('ms', 'How long nobody is evicted when over 15 % of leases end together; 0 never spares anybody.')),
  slowStartMs: count(0, 3_600_000)
    .default(DEFAULT_REGISTRY.slowStartMs)
    .meta(note('ms', 'Time in which the weight of a new agent grows to its whole; 0: it has it at once.')),
  maxEjectedShare: share
    .default(DEFAULT_REGISTRY.maxEjectedShare)
    .meta(note('share', "Of a capability's living agents, how many failing ones may be put aside at once; 0 none.")),
  drainTimeoutMs: count(0, 86_400_000)
    .default(DEFAULT_REGISTRY.drainTimeoutMs)
    .meta(note('ms', 'How long a drain lasts where nobody says; then the agent is offline.')),
  probeNetworks: z
    .array(z.string().max(64).refine(isNetwork, { message: 'must be a network: 10.1.0.0/16, fd00::/8, or an address' }))
    .max(256)
    .nullable()
    .default(null)
    .meta(
      note('list', 'Networks, beside public ones, whose health endpoints are asked; none: loopback, if http.host is.'),
    ),
});

const dictionarySchema = z.strictObject({
  mode: z
    .enum(['open', 'curated'])
    .default('open')
    .meta(note('mode', 'open takes any well-formed capability name; curated only approved ones.')),
});

const indexSchema = z.strictObject({
  kind: z
    .enum(['hnsw', 'flat'])
    .default('hnsw')
    .meta(note('kind', 'hnsw: graph, fast at any size; flat: exact scan, for small sets.')),
  m: count(2, 100)
    .default(16)
    .meta(
      note(
        'links',
        'Links of a vector in the graph, from the next build on; higher gains recall, costs memory and build time.',
      ),
    ),
  efConstruction: count(8, 4_096)
    .default(200)
    .meta(note('vectors', 'Beam width of a build, from the next one on; higher gains recall, costs build time.')),
  efSearch: count(1, 4_096)
    .default(100)
    .meta(note('vectors', 'Beam width of a search, from the next build on; higher gains recall, costs search time.')),
  keepVersions: count(1, 100).default(3).meta(note('versions', 'Index versions kept on disk.')),
  rebuildDebounceMs: ms()
    .default(2_000)
    .meta(
      note(
        'ms',
        'Quiet time after a change before a rebuild; 0 rebuilds at each change, or, with rebuildMaxWaitMs 0, on command only.',
      ),
    ),
  rebuildMaxWaitMs: ms()
    .default(30_000)
    .meta(
      note('ms', 'A rebuild comes at least this soon while changes keep coming; 0 (both): none comes but on command.'),
    ),
  rebuildDeltaShare: share
    .default(0.1)
    .meta(
      note(
        'share',
        'New vectors (1,000 at least) over all that ask for a rebuild at once; higher rebuilds less often.',
      ),
    ),
  nearDuplicateSimilarity: share
    .default(0.93)
    .meta(
      note('cosine', 'A new capability at least this near to another name is reported; 1 reports equal texts only.'),
    ),
});

const weightsSchema = z.strictObject({
  relevance: share
    .default(0.5)
    .meta(note('weight', 'Part of relevance in the score; 0 leaves it to the gate alone. The weights sum to 1.')),
  load: share
    .default(0.3)
    .meta(note('weight', 'Part of free capacity in the score; 0 ignores load. The weights sum to 1.')),
  latency: share
    .default(0.2)
    .meta(note('weight', 'Part of answer speed in the score; 0 ignores it. The weights sum to 1.')),
});

export const DEFAULT_CANARY_VALUE = 'true';

const canarySchema = z.strictObject({
  tag: filledText('must name a tag')
    .nullable()
    .default(null)
    .meta(
      note(
        'tag',
        'Tag that marks canary agents; none: off. Set, it adds canary to routing.strategies, before affinity.',
      ),
    ),
  value: filledText('must be a tag value').default(DEFAULT_CANARY_VALUE).meta(note('value', 'Value of that tag.')),
  share: share
    .default(0)
    .meta(note('share', 'Share of traffic that canary agents get; 0 sends none while others can take it.')),
});

const routingSchema = z.strictObject({
  topK: count(1, 50)
    .default(5)
    .meta(note('answers', 'Answers in a reply, the agent counted, where the request does not say.')),
  recallK: count(1, 1_000)
    .default(32)
    .meta(note('vectors', 'Nearest texts looked at; higher finds more and costs time.')),
  minRelevance: share
    .default(0.45)
    .meta(note('0..1', 'Best relevance under this is no_match; higher refuses more, 0 refuses nothing.')),
  ambiguityMargin: share.default(0.05).meta(note('0..1', 'Two capabilities this near are called ambiguous; 0 never.')),
  relevanceGate: share
    .default(0.05)
    .meta(
      note('0..1', 'How far under the best relevance a capability may still compete; higher lets load decide more.'),
    ),
  multiIntent: z
    .boolean()
    .default(true)
    .meta(note('yes/no', 'Answer a request that holds several intents with each of them; no takes it as one.')),
  weights: weightsSchema.prefault({}),
  latencyBudgetMs: ms(1).default(5_000).meta(note('ms', 'Answer time that counts as the worst in the score.')),
  queueLoad: share.default(0.8).meta(note('share', 'All candidates above this load: decision queue; 1 never queues.')),
  queueRetryAfterMs: ms(1).default(1_000).meta(note('ms', 'Wait that a queue decision advises.')),
  manyCandidates: count(1, 100_000)
    .default(20)
    .meta(note('agents', 'More candidates than this: the draw is among the least loaded.')),
  leastLoaded: count(1, 1_000).default(5).meta(note('agents', 'How many least loaded agents that draw is among.')),
  strategy: z
    .enum(['best', 'capacity_first'])
    .default('best')
    .meta(note('name', 'Draw where the request does not say: highest score, or random by free slots.')),
  strategies: z
    .array(z.enum(['failure_domain', 'affinity', 'canary']))
    .max(3)
    .refine((names) => new Set(names).size === names.length, { message: 'names one strategy twice' })
    .default(['failure_domain', 'affinity'])
    .meta(note('list', 'Strategies before the draw, in this order; canary needs routing.canary.tag.')),
  strategiesFile: filledText('must name a file')
    .nullable()
    .default(null)
    .meta(
      note('file', 'YAML or JSON with strategies and weights for all or some capabilities, reloaded when it changes.'),
    ),
  embedTimeoutMs: ms(1)
    .default(2_000)
    .meta(note('ms', 'Longest wait for a vector before an intent is routed by words alone.')),
  cacheTtlMs: ms().default(60_000).meta(note('ms', 'How long the meaning of an intent is remembered; 0 never.')),
  cacheEntries: count(0, 10_000_000).default(10_000).meta(note('intents', 'Intents remembered; 0 remembers none.')),
  canary: canarySchema.prefault({}),
});

const auditSchema = z.strictObject({
  keepText: z
    .boolean()
    .default(true)
    .meta(note('yes/no', 'Keep the intent in records about sensitive capabilities; no keeps its SHA-256 only.')),
  keepDays: count(0, 36_500)
    .default(90)
    .meta(note('days', 'Whole days that audit records are kept; 0 keeps them for ever.')),
});

export const configSchema = z.strictObject({
  http: httpSchema.prefault({}),
  data: dataSchema.prefault({}),
  redis: redisSchema.prefault({}),
  auth: authSchema.prefault({}),
  log: logSchema.prefault({}),
  model: modelSchema.prefault({}),
  embedder: embedderSchema.prefault({}),
  registry: registrySchema.prefault({}),
  dictionary: dictionarySchema.prefault({}),
  audit: auditSchema.prefault({}),
  index: indexSchema.prefault({}),
  routing: routingSchema.prefault({}),
});

/** As given: every key may be left out. */
export type ConfigInput = z.input<typeof configSchema>;
/** With defaults: every key has a value that fits its own rule. */
export type ConfigValues = z.output<typeof configSchema>;

/** Compiled: the rules across keys hold, paths are absolute, and each value knows where it came from. */
export interface Config extends Readonly<Omit<ConfigValues, 'model'>> {
  readonly model: { readonly id: string; readonly path: string | null };
  /** null where no tag marks canaries; else `routing.strategies` name `canary`. */
  readonly canary: { readonly tag: string; readonly value: string; readonly share: number } | null;
  /** Source of each key that is not a default: `flag --port`, `environment PORT`, `file ./agent-reach.yaml`. */
  readonly sources: ReadonlyMap<string, string>;
}
