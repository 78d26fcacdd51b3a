/**
 * The change feed of a registry that several instances share: told from the log alone, the same events under the same
 * ids at all of them. An instance that starts tells again what the log still holds, from what the sweeper has written
 * down of an earlier position, so that a reader goes on at it as if it had never been away.
 */
import { errorText, log } from '../core/index.ts';
import type { EventLog, RegistryEvent } from '../events/index.ts';
import {
  type AgentRegistry,
  ChangeTeller,
  type HeardState,
  type RegisteredAgent,
  type RegistryChange,
} from '../registry/index.ts';
import { FeedCheckpoints, KeyValueAgentStore, type LogEntry, type RedisStore } from '../storage/index.ts';

/** Two distances and what comes meanwhile must fit into what the log keeps. */
const DISTANCE_SHARE = 0.45;

export interface SharedFeedParts {
  readonly store: RedisStore;
  readonly registry: AgentRegistry;
  readonly events: EventLog;
}

/** What an entry of the log says of agents, names and states. */
export interface EntryChanges {
  readonly changes: readonly RegistryChange[];
  readonly states: readonly HeardState[];
}

interface Retold {
  readonly teller: ChangeTeller;
  readonly events: readonly { readonly event: RegistryEvent; readonly position: number }[];
}

export class SharedFeed {
  readonly #parts: SharedFeedParts;
  readonly #changesOf: (entry: LogEntry) => EntryChanges;
  readonly #checkpoints: FeedCheckpoints;
  #teller = new ChangeTeller();
  /** Position of the last entry that was told. */
  #toldAt = 0;
  #isSweeping = false;

  constructor(parts: SharedFeedParts, changesOf: (entry: LogEntry) => EntryChanges) {
    this.#parts = parts;
    this.#changesOf = changesOf;
    const { link, logEntries } = parts.store;
    this.#checkpoints = new FeedCheckpoints(link, Math.floor(DISTANCE_SHARE * logEntries));
  }

  /** Before the log is followed, and after the registry was loaded. */
  async start(): Promise<void> {
    const { store, events } = this.#parts;
    // Not what the registry loaded: it may have stored something since, and the log goes on after that.
    const { agents, entries } = await new KeyValueAgentStore(store).load();
    this.#toldAt = store.log.position;
    for (const checkpoint of await this.#checkpoints.load()) {
      const { position } = checkpoint;
      const retold = position > this.#toldAt ? undefined : await this.#retell(checkpoint.told, position);
      if (retold?.teller.agrees(agents, entries) !== true) continue;
      this.#teller = retold.teller;
      events.startAt(position);
      for (const { event, position: at } of retold.events) events.append(event, at);
      return;
    }
    this.#teller.seed(agents, entries);
  }

  /** In the place of the entry in the log. */
  tell({ position, at, isAfterGap }: LogEntry, found: EntryChanges): void {
    const { events } = this.#parts;
    const told = this.#eventsOf(found, at, this.#teller);
    // Other instances told what was missed one by one, under other ids.
    if (isAfterGap) events.skipTo(position);
    else for (const event of told) events.append(event, position);
    this.#toldAt = position;
    this.#saveIfDue();
  }

  setSweeping(isSweeping: boolean): void {
    this.#isSweeping = isSweeping;
    this.#saveIfDue();
  }

  /** Agents of which another state was told than memory knows, as after a restart of all instances. */
  *untold(): Generator<RegisteredAgent> {
    for (const { agentId, incarnation, state } of this.#teller.states()) {
      const agent = this.#parts.registry.view.agent(agentId);
      if (agent?.record.incarnation === incarnation && agent.liveness.state !== state) yield agent;
    }
  }

  async #retell(written: string, position: number): Promise<Retold | undefined> {
    try {
      const teller = ChangeTeller.read(written);
      const events: { event: RegistryEvent; position: number }[] = [];
      for await (const entry of this.#parts.store.log.kept(position)) {
        const found = this.#changesOf(entry);
        for (const event of this.#eventsOf(found, entry.at, teller)) events.push({ event, position: entry.position });
      }
      return { teller, events };
    } catch (error) {
      log('info', 'the change feed does not reach back over this start', { position, reason: errorText(error) });
      return undefined;
    }
  }

  #eventsOf({ changes, states }: EntryChanges, at: number, teller: ChangeTeller): RegistryEvent[] {
    const moment = { at, epoch: this.#parts.registry.view.epoch };
    return [
      ...changes.flatMap((change) => teller.eventsOf(change, moment)),
      ...states.flatMap((state) => teller.stateOf(state, moment)),
    ];
  }

  #saveIfDue(): void {
    const position = this.#toldAt;
    if (!this.#isSweeping || !this.#checkpoints.isDue(position)) return;
    this.#checkpoints.save({ position, told: this.#teller.write() }).catch((error: unknown) => {
      log('debug', 'what the change feed told was not written down', { reason: errorText(error) });
    });
  }
}
