/**
 * Takes in what other instances did: what they stored, in the order of the log, and what they heard of agents since.
 * Nothing here is stored again or told to others. Synchronous, so that no reader sees half of a change.
 */
import type { DictionaryEntry } from '../capability/index.ts';
import type { Heartbeat, StateReason } from '../contract/index.ts';
import type { Clock } from '../core/index.ts';
import type { AgentHealth } from './agent-health.ts';
import type { AgentFacts, AgentLedger } from './agent-ledger.ts';
import type { AgentRecord, RegisteredAgent } from './agent-record.ts';
import type { RegistryChange } from './agent-store.ts';
import { beaten, type Moment } from './heartbeat.ts';
import { freshAgent } from './registration.ts';

export interface RegistryFollowerParts {
  readonly clock: Clock;
  readonly ledger: AgentLedger;
  readonly health: AgentHealth;
  readonly keepOfflineMs: number;
  /** Stores the agent as memory has it. */
  readonly sync: (agentId: string) => void;
}

/** A beat that another instance answered. */
export interface HeardBeat extends Heartbeat {
  readonly agentId: string;
}

/** A change of state that is not stored: another instance doubts an agent, put it aside, or trusts it again. */
export interface HeardState {
  readonly agentId: string;
  readonly incarnation: number;
  readonly to: 'online' | 'busy' | 'suspect' | 'ejected' | 'draining';
  readonly why: StateReason;
  /** Of an ejection: how long it lasts from now. */
  readonly forMs?: number;
}

export class RegistryFollower {
  readonly #parts: RegistryFollowerParts;
  #isFollowing = false;

  constructor(parts: RegistryFollowerParts) {
    this.#parts = parts;
  }

  /** While what happens here was another instance's doing. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  stored(change: RegistryChange): void {
    this.#follow(() => {
      const { ledger, health } = this.#parts;
      if (change.putEntries !== undefined && change.putEntries.length > 0) this.#entries(change.putEntries);
      for (const record of change.putAgents ?? []) this.#put(record, change);
      for (const agentId of change.removeAgents ?? []) {
        const gone = ledger.directory.agent(agentId);
        if (gone === undefined) continue;
        health.forget(agentId);
        ledger.remove(gone, change.why === 'evicted' ? 'agent.evicted' : 'agent.withdrawn');
      }
    });
  }

  /** Of an older lease, or of an agent that is not known: nothing. */
  beat({ agentId, ...beat }: HeardBeat): void {
    const { ledger, health } = this.#parts;
    const agent = ledger.directory.agent(agentId);
    if (agent?.record.leaseId !== beat.leaseId) return;
    this.#follow(() => {
      const { record, liveness } = beaten(agent, beat, this.#moment());
      const isBack = agent.record.offlineAt !== null && record?.offlineAt === null;
      const { evictionDueAt, drainDueAt } = agent.liveness;
      // What a beat changes in the record comes by the log, but for a mark that was made too late to be stored.
      const facts: AgentFacts = isBack
        ? { record: { ...agent.record, offlineAt: null }, isStored: true, liveness: { ...liveness, drainDueAt } }
        : { liveness: { ...liveness, evictionDueAt, drainDueAt } };
      health.watch.watch(ledger.change(agent, facts, 'beat'));
      if (isBack && health.watch.isSweeping) this.#parts.sync(agentId);
    });
  }

  state(heard: HeardState): void {
    const { clock, ledger, health } = this.#parts;
    const agent = ledger.directory.agent(heard.agentId);
    if (agent === undefined || agent.record.incarnation !== heard.incarnation) return;
    this.#follow(() => {
      const now = clock.now();
      const cause = heard.why === 'failure_reported' ? 'report' : 'silence';
      const doubt = agent.liveness.suspicion ?? { cause, at: now, isLapsed: false };
      const liveness = {
        suspicion: heard.to === 'suspect' ? doubt : heard.to === 'ejected' ? agent.liveness.suspicion : null,
        ejectedDueAt: heard.to === 'ejected' ? now + (heard.forMs ?? 0) : null,
      };
      health.watch.watch(ledger.change(agent, { liveness }, heard.why));
    });
  }

  #entries(entries: readonly DictionaryEntry[]): void {
    this.#parts.ledger.applyEntries(entries);
  }

  #put(record: AgentRecord, { why = 'loaded', state }: RegistryChange): void {
    const { ledger, health } = this.#parts;
    const latest = ledger.directory.agent(record.agentId);
    if (latest !== undefined && latest.record.leaseId === record.leaseId) {
      const liveness = { ...this.#following(latest, record), ...(state === 'busy' ? { status: state } : {}) };
      const facts = { record, isStored: true as const, liveness };
      health.watch.watch(ledger.change(latest, facts, why as StateReason));
      return;
    }
    const fresh = freshAgent(record, 'registered', this.#moment());
    const agent = { record, liveness: { ...fresh.liveness, ...this.#following(fresh, record) } };
    ledger.admit(agent, []);
    health.startAnew(agent);
  }

  /** What a stored change of an agent says of its life. */
  #following({ record: old, liveness }: RegisteredAgent, record: AgentRecord): NonNullable<AgentFacts['liveness']> {
    const { nowMs, wallAt } = this.#moment();
    const until = record.drain?.until ?? null;
    const drainDueAt = until === null ? null : nowMs + (until - wallAt);
    if (record.offlineAt !== null) {
      const evictionDueAt = nowMs + this.#parts.keepOfflineMs - Math.max(0, wallAt - record.offlineAt);
      return { suspicion: null, hasLapsed: true, ejectedDueAt: null, drainDueAt, evictionDueAt };
    }
    const isBack = old.offlineAt !== null;
    const alive = { hasLapsed: false, missedBeats: 0, heardAt: nowMs, suspicion: null, probe: null };
    return { ...(isBack ? alive : { hasLapsed: liveness.hasLapsed }), drainDueAt, evictionDueAt: null };
  }

  #moment(): Moment {
    const { clock } = this.#parts;
    return { nowMs: clock.now(), wallAt: clock.wallNow() };
  }

  #follow(task: () => void): void {
    this.#isFollowing = true;
    try {
      task();
    } finally {
      this.#isFollowing = false;
    }
  }
}
