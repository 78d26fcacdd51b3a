/**
 * One of several instances over one Redis: takes in what the others stored and heard, tells them what this one heard,
 * and stands for sweeper. Everything that stores goes through the log, so that memory here is what memory is there.
 */
import { AgentReachError, errorText, log } from '../core/index.ts';
import type { EventBus, EventLog, RegistryEvent } from '../events/index.ts';
import { BeatSender, SweeperElection } from '../redis/index.ts';
import type {
  AgentRegistry,
  BeatSharing,
  FeedbackBook,
  HeardBeat,
  HeardState,
  RegisteredAgent,
} from '../registry/index.ts';
import type { CapabilityIndexer, GoldenSet, StrategyBook } from '../routing/index.ts';
import type { RuleService } from '../rules/index.ts';
import {
  feedbackChangeOf,
  goldenChangeOf,
  type LogEntry,
  type LoggedWrite,
  type RedisStore,
  registryChangesOf,
} from '../storage/index.ts';
import { type EntryChanges, SharedFeed } from './shared-feed.ts';
import type { SharedIndex } from './shared-index.ts';

/** A beat is told a moment after it was taken: a lease may be ended that much sooner by the clock of Redis. */
const LEASE_SLACK_MS = 500;
/** States that no record holds: told beside the records. */
const TOLD_STATES: ReadonlySet<string> = new Set(['online', 'busy', 'suspect', 'ejected']);

export interface OtherInstancesParts {
  readonly store: RedisStore;
  /** Intervals without a beat until a lease is over. */
  readonly missedBeats: number;
}

export interface FollowingParts {
  readonly registry: AgentRegistry;
  readonly rules: RuleService;
  readonly strategies: StrategyBook;
  readonly golden: GoldenSet;
  readonly feedback: FeedbackBook;
  readonly indexer: CapabilityIndexer;
  readonly shared: SharedIndex | null;
  readonly bus: EventBus;
  readonly events: EventLog;
}

export class OtherInstances {
  readonly beats: BeatSharing;
  readonly #store: RedisStore;
  readonly #sender: BeatSender;
  #election: SweeperElection | undefined;

  constructor({ store, missedBeats }: OtherInstancesParts) {
    this.#store = store;
    this.#sender = new BeatSender(store.link, store.log, store.writes);
    this.beats = {
      assertOpen: () => {
        if (store.problem === null && store.log.staleMs === null) return;
        const detail = store.problem ?? 'this instance is behind the others: ask again';
        throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE', { detail });
      },
      deafUntil: (graceMs) => Math.max(store.log.deafUntil(graceMs), store.writes.deafUntil(graceMs)),
      send: ({ record: { agentId, leaseId, heartbeatIntervalMs } }, beat) =>
        this.#sender.send({
          agentId,
          leaseId,
          leaseMs: missedBeats * heartbeatIntervalMs - LEASE_SLACK_MS,
          told: { agentId, ...beat },
        }),
    };
  }

  /** How long nothing was heard of the others; null while all is heard. */
  get staleMs(): number | null {
    return this.#store.log.staleMs;
  }

  /** After everything was loaded, and before the first request. */
  async start(parts: FollowingParts): Promise<void> {
    const { registry, bus, events } = parts;
    const feed = new SharedFeed({ store: this.#store, registry, events }, changesOf);
    await feed.start();
    this.#store.log.follow({
      onEntry: async (entry) => {
        const found = changesOf(entry);
        await this.#take(entry, found, parts);
        feed.tell(entry, found);
      },
      onBeats: (batch) => {
        for (const beat of JSON.parse(batch) as HeardBeat[]) registry.follower.beat(beat);
      },
    });
    const { redis, keys } = this.#store.link;
    await this.#store.log.caughtUp(Number((await redis.get(keys.position)) ?? 0));
    bus.subscribe((event) => this.#tellState(event, registry));
    this.#election = new SweeperElection({
      link: this.#store.link,
      onChange: (fence) => {
        log('info', fence === null ? 'another instance watches the leases' : 'this instance watches the leases', {
          fence,
        });
        this.#store.useFence(fence);
        registry.setSweeping(fence !== null);
        feed.setSweeping(fence !== null);
        if (fence !== null) for (const agent of feed.untold()) this.#announce(agent);
      },
    });
    await this.#election.start();
  }

  async stop(): Promise<void> {
    this.#sender.stop();
    await this.#election?.stop();
  }

  /** What may fail comes first: then the entry is handed over again. */
  async #take({ writes, isOwn }: LogEntry, { changes, states }: EntryChanges, parts: FollowingParts): Promise<void> {
    if (!isOwn && writes.some(({ table }) => table === 'rules')) await parts.rules.load();
    if (!isOwn && writes.some(({ table }) => table === 'strategies')) await parts.strategies.refresh();
    if (!isOwn) await parts.shared?.take(writes, parts.indexer);
    if (isOwn) return;
    for (const change of changes) parts.registry.follower.stored(change);
    for (const state of states) parts.registry.follower.state(state);
    parts.golden.follow(goldenChangeOf(writes));
    parts.feedback.follow(feedbackChangeOf(writes));
  }

  #tellState(event: RegistryEvent, registry: AgentRegistry): void {
    if (event.type !== 'agent.state_changed' || registry.follower.isFollowing || event.why === 'registered') return;
    const agent = registry.view.agent(event.agentId);
    if (agent !== undefined && TOLD_STATES.has(event.from)) this.#announce(agent);
  }

  #announce({
    record: { agentId, incarnation },
    liveness: { state: to, reason: why, ejectedDueAt },
  }: RegisteredAgent): void {
    if (!TOLD_STATES.has(to)) return;
    const forMs = ejectedDueAt === null ? {} : { forMs: ejectedDueAt - this.#store.link.clock.now() };
    this.#store.announce(agentId, JSON.stringify({ incarnation, to, why, ...forMs })).catch((error: unknown) => {
      log('debug', 'a state was not told to other instances', { agentId, reason: errorText(error) });
    });
  }
}

function changesOf({ writes }: LogEntry): EntryChanges {
  return { changes: registryChangesOf(writes), states: statesOf(writes) };
}

function statesOf(writes: readonly LoggedWrite[]): HeardState[] {
  return writes.flatMap(({ table, key, value, note }) => {
    if (table !== 'agents' || value !== undefined || note === undefined) return [];
    try {
      return [{ agentId: key, ...(JSON.parse(note) as Omit<HeardState, 'agentId'>) }];
    } catch {
      // Of a later version: it is stored nowhere, and the next one comes.
      return [];
    }
  });
}
