/** A registry over the in-memory store, with an index that records its calls and a clock that tests turn. */
import { CapabilityDictionary, type CapabilityMeaning, type DictionaryMode } from '../../src/capability/index.ts';
import { type Registration, registrationSchema, type Warning } from '../../src/contract/index.ts';
import { AgentReachError, ManualClock } from '../../src/core/index.ts';
import { EventBus, type RegistryEvent } from '../../src/events/index.ts';
import {
  AgentRegistry,
  type AgentRegistryOptions,
  type AgentRegistryParts,
  type AgentStore,
  type CapabilityIndex,
  type HealthProber,
  type ProbeAnswer,
  type RegistryChange,
} from '../../src/registry/index.ts';
import { KeyValueAgentStore, MemoryStore } from '../../src/storage/index.ts';

export class RecordingIndex implements CapabilityIndex {
  readonly current = new Map<string, CapabilityMeaning>();
  readonly prepared: CapabilityMeaning[] = [];
  applyCalls = 0;
  failNext: AgentReachError | undefined;
  warnings: Warning[] = [];
  onPrepare: (() => Promise<void>) | undefined;

  async prepare(meanings: readonly CapabilityMeaning[]): Promise<Warning[]> {
    const failure = this.failNext;
    this.failNext = undefined;
    if (failure !== undefined) throw failure;
    await this.onPrepare?.();
    this.prepared.push(...meanings);
    return this.warnings;
  }

  apply(meanings: readonly CapabilityMeaning[]): void {
    this.applyCalls += 1;
    for (const meaning of meanings) this.current.set(`${meaning.namespace}/${meaning.name}`, meaning);
  }

  remove(namespace: string, name: string): void {
    this.current.delete(`${namespace}/${name}`);
  }
}

/** A store that can be told to refuse, or to hold commits back until released. */
export class SwitchStore implements AgentStore {
  readonly #inner: AgentStore;
  isBroken = false;
  /** Stores, and fails: the answer is lost on the way. */
  losesAnswers = false;
  /** Takes the end of no lease, as a shared store of which another instance is the sweeper. */
  keepsLeases = false;
  commits = 0;
  /** Why each lease was ended that the store was asked to end. */
  readonly ends: string[] = [];
  #held: Promise<void> | undefined;

  constructor(inner: AgentStore) {
    this.#inner = inner;
  }

  load(): ReturnType<AgentStore['load']> {
    return this.#inner.load();
  }

  hold(): () => void {
    let release = (): void => undefined;
    this.#held = new Promise((resolve) => {
      release = () => {
        this.#held = undefined;
        resolve();
      };
    });
    return () => release();
  }

  async commit(change: RegistryChange): Promise<void> {
    await this.#held;
    if (this.isBroken) throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE');
    if (change.endsLease) this.ends.push(change.why ?? '');
    if (change.endsLease && this.keepsLeases) throw new AgentReachError('AR_ERR_LEASE_WATCHED');
    this.commits += 1;
    await this.#inner.commit(change);
    if (this.losesAnswers) throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE');
  }
}

/** Answers at once what it is told to, and remembers whom it asked. */
export class ScriptedProber implements HealthProber {
  readonly asked: string[] = [];
  answer: ProbeAnswer = { isAnswered: true, status: null, detail: 'answered 200' };

  fail(): void {
    this.answer = { isAnswered: false, detail: 'connection refused' };
  }

  say(status: 'healthy' | 'busy' | 'draining' | null = null): void {
    this.answer = { isAnswered: true, status, detail: 'answered 200' };
  }

  async probe(url: string): Promise<ProbeAnswer> {
    this.asked.push(url);
    return this.answer;
  }

  async review(): Promise<Record<string, never>> {
    return {};
  }
}

export interface RegistryBench {
  readonly clock: ManualClock;
  readonly store: SwitchStore;
  readonly index: RecordingIndex;
  readonly events: RegistryEvent[];
  readonly dictionary: CapabilityDictionary;
  readonly registry: AgentRegistry;
  readonly prober: ScriptedProber;
  /** States told on the bus, as `agent: from > to (why)`. */
  moves(): string[];
}

export function makeBench(
  options: {
    readonly mode?: DictionaryMode;
    readonly store?: SwitchStore;
    readonly clock?: ManualClock;
    readonly registry?: Partial<AgentRegistryOptions>;
    readonly beats?: AgentRegistryParts['beats'];
  } = {},
): RegistryBench {
  const clock = options.clock ?? new ManualClock();
  const store = options.store ?? new SwitchStore(new KeyValueAgentStore(new MemoryStore()));
  const index = new RecordingIndex();
  const bus = new EventBus();
  const events: RegistryEvent[] = [];
  bus.subscribe((event) => events.push(event));
  const dictionary = new CapabilityDictionary(options.mode ?? 'open');
  const prober = new ScriptedProber();
  const { beats } = options;
  const rest = { random: () => 0.5, options: options.registry ?? {}, ...(beats === undefined ? {} : { beats }) };
  const registry = new AgentRegistry({ clock, store, dictionary, index, bus, prober, ...rest });
  const moves = (): string[] =>
    events.flatMap((event) =>
      event.type === 'agent.state_changed' ? [`${event.agentId}: ${event.from} > ${event.to} (${event.why})`] : [],
    );
  return { clock, store, index, events, dictionary, registry, prober, moves };
}

export function registrationOf(agentId: string, changes: Record<string, unknown> = {}): Registration {
  return registrationSchema.parse({
    agentId,
    capabilities: ['weather.query.city'],
    transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
    ...changes,
  });
}

/** Turns the clock, and lets everything that each step starts finish. */
export async function pass(clock: ManualClock, ms: number, stepMs = 1_000): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(left, stepMs));
    await settle();
  }
}

/** Lets everything that waits only on promises finish. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}
