/**
 * Everything that time does to agents, from this one place: a missed beat, a lease that ran out, `expiresAt`, the ends
 * of a drain and of an ejection, eviction, and the probes in between. One timer serves all agents. Deadlines count on
 * the clock that never goes back. Where several instances share their agents, one sweeps and the others only listen.
 */

import type { StateReason } from '../contract/index.ts';
import { type Clock, errorText, log } from '../core/index.ts';
import type { AgentFacts, AgentLedger } from './agent-ledger.ts';
import type { AgentRecord, RegisteredAgent, Suspicion } from './agent-record.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import type { HealthProber, ProbeAnswer } from './health-prober.ts';
import { firstMissMs, isExpired, leaseDeadline, missedBeatAt, missedBeatsAt } from './lease.ts';
import { ProbeDesk, type ProbeTarget } from './probe-desk.ts';
import type { RegistryWriter } from './registry-writer.ts';
import { type LeaseCensus, SelfPreservation } from './self-preservation.ts';

/** How soon an eviction that the store refused is tried again. */
const RETRY_EVICTION_MS = 60_000;
/** The same for the end of a lease, which the other instances do not know of until it is stored. */
const RETRY_END_MS = 5_000;

export interface HealthWatchParts {
  readonly clock: Clock;
  /** 0..1, for jitter. */
  readonly random: () => number;
  readonly ledger: AgentLedger;
  readonly writer: RegistryWriter;
  readonly prober: HealthProber;
  readonly keepOfflineMs: number;
  readonly missedBeats: number;
  readonly preserveMs: number;
  /** See `BeatSharing`. Default: never. */
  readonly deafUntil?: (graceMs: number) => number;
  /** A probe of this agent, for whatever reason, got no answer. */
  readonly onProbeFailed: (agent: RegisteredAgent) => void;
  /** The agent is gone. */
  readonly onEvicted: (agentId: string) => void;
}

export class HealthWatch {
  readonly #parts: HealthWatchParts;
  readonly #deadlines: DeadlineQueue;
  readonly #probes: ProbeDesk;
  readonly #preservation: SelfPreservation;
  #isSweeping = true;
  /** When the process last went on after standing still: silence before it may have been our deafness. */
  #resumedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: HealthWatchParts) {
    this.#parts = parts;
    const { clock, random, prober, ledger } = parts;
    this.#deadlines = new DeadlineQueue({
      clock,
      onDue: (agentId) => this.#onDue(agentId),
      onStall: (lateMs) => this.#onStall(lateMs),
    });
    this.#probes = new ProbeDesk({
      clock,
      random,
      prober,
      onProbed: (target, answer) => this.#onProbed(target, answer),
    });
    this.#preservation = new SelfPreservation({
      clock,
      limitMs: parts.preserveMs,
      census: () => this.#census(),
      onChange: (isOn) => {
        ledger.directory.preserving = isOn;
        if (!isOn) this.#letGoOfKept();
      },
    });
  }

  /** Probes that wait or run. */
  get probes(): number {
    return this.#probes.size;
  }

  get isSweeping(): boolean {
    return this.#isSweeping;
  }

  /** Off: time changes no agent here, somebody else sees to it. On again: whatever is overdue by then happens at once. */
  setSweeping(isOn: boolean): void {
    if (isOn === this.#isSweeping) return;
    this.#isSweeping = isOn;
    if (isOn) {
      for (const agent of this.#parts.ledger.directory.all()) this.watch(agent);
      return;
    }
    this.#deadlines.clear();
    this.#preservation.stop();
    this.#parts.ledger.directory.preserving = false;
  }

  /** Arms the agent's next deadline; to be called after each change of one. */
  watch(agent: RegisteredAgent): void {
    if (this.#isSweeping) this.#deadlines.set(agent.record.agentId, this.#nextDueAt(agent));
  }

  forget(agentId: string): void {
    this.#deadlines.delete(agentId);
  }

  /** Asks the agent's health endpoint, where it has one. */
  probe({ record }: RegisteredAgent): void {
    const { agentId, incarnation, transport } = record;
    const url = transport.healthEndpoint;
    if (url !== undefined && record.offlineAt === null) this.#probes.request({ agentId, incarnation, url });
  }

  /** Out of routing when this returns; stored in the background. `learnt` at the same time, it is one change. */
  takeOffline(agent: RegisteredAgent, why: StateReason, learnt?: AgentFacts): RegisteredAgent {
    const offline = this.#putOffline(agent, why, learnt);
    this.#parts.writer.syncAgent(offline.record.agentId);
    this.watch(offline);
    return offline;
  }

  stop(): void {
    this.#deadlines.stop();
    this.#probes.stop();
    this.#preservation.stop();
  }

  /** Out of routing as with `takeOffline`; whoever shares the store is told once the store agrees. */
  #endLease(agent: RegisteredAgent): RegisteredAgent {
    const offline = this.#putOffline(agent, silenceOf(agent));
    this.#storeEnd(offline);
    return offline;
  }

  #storeEnd(offline: RegisteredAgent): void {
    this.#parts.writer.syncEnd(offline.record);
    this.watch(offline);
  }

  #putOffline(agent: RegisteredAgent, why: StateReason, learnt: AgentFacts = {}): RegisteredAgent {
    const { clock, ledger, keepOfflineMs } = this.#parts;
    const record: AgentRecord = { ...(learnt.record ?? agent.record), offlineAt: clock.wallNow() };
    const liveness = {
      ...learnt.liveness,
      suspicion: null,
      hasLapsed: true,
      ejectedDueAt: null,
      evictionDueAt: clock.now() + keepOfflineMs,
    };
    return ledger.change(agent, { record, liveness }, why);
  }

  #nextDueAt(agent: RegisteredAgent): number {
    const { record, liveness } = agent;
    if (record.offlineAt !== null) {
      const { clock, writer } = this.#parts;
      const evictionAt = liveness.evictionDueAt ?? clock.now();
      return writer.hasUnstoredEnd(record) ? Math.min(evictionAt, clock.now() + RETRY_END_MS) : evictionAt;
    }
    const { heardAt, missedBeats, hasLapsed, expiryDueAt, drainDueAt, ejectedDueAt } = liveness;
    const missAt = missedBeatAt(heardAt, record.heartbeatIntervalMs, missedBeats + 1);
    const silenceAt = Math.max(this.#deafUntil(record), hasLapsed ? missAt : Math.min(missAt, this.#lapseAt(agent)));
    const never = Number.POSITIVE_INFINITY;
    return Math.min(silenceAt, expiryDueAt ?? never, drainDueAt ?? never, ejectedDueAt ?? never);
  }

  /** Before that no silence counts: beats may still be on their way to us. */
  #deafUntil({ heartbeatIntervalMs }: AgentRecord): number {
    const graceMs = firstMissMs(heartbeatIntervalMs);
    return Math.max(this.#resumedAt + graceMs, this.#parts.deafUntil?.(graceMs) ?? Number.NEGATIVE_INFINITY);
  }

  #lapseAt({ record, liveness }: RegisteredAgent): number {
    const lease = leaseDeadline(liveness.heardAt, record.heartbeatIntervalMs, this.#parts.missedBeats);
    return Math.max(this.#deafUntil(record), lease);
  }

  #onDue(agentId: string): void {
    const { ledger, clock, writer } = this.#parts;
    const agent = ledger.directory.agent(agentId);
    if (agent === undefined) return;
    const now = clock.now();
    const isDue = (at: number | null): boolean => at !== null && isExpired(at, now);
    const { expiryDueAt, drainDueAt, ejectedDueAt, evictionDueAt } = agent.liveness;
    if (agent.record.offlineAt !== null) {
      if (isDue(evictionDueAt)) this.#evict(agentId);
      else if (writer.hasUnstoredEnd(agent.record)) this.#storeEnd(agent);
      else this.watch(agent);
    } else if (isDue(expiryDueAt)) this.takeOffline(agent, 'expired');
    else if (isDue(drainDueAt)) this.takeOffline(agent, 'drain_over');
    else {
      const free = isDue(ejectedDueAt)
        ? ledger.change(agent, { liveness: { ejectedDueAt: null } }, 'ejection_over')
        : agent;
      const judged = this.#judgeSilence(free, now);
      if (judged.record.offlineAt === null) this.watch(judged);
    }
  }

  #judgeSilence(agent: RegisteredAgent, now: number): RegisteredAgent {
    const { record, liveness } = agent;
    if (now < this.#deafUntil(record)) return agent;
    const missedBeats = missedBeatsAt(liveness.heardAt, record.heartbeatIntervalMs, now);
    const hasLapsed = liveness.hasLapsed || isExpired(this.#lapseAt(agent), now);
    if (missedBeats <= liveness.missedBeats && hasLapsed === liveness.hasLapsed) return agent;
    const facts = { missedBeats, hasLapsed };
    if (hasLapsed && (record.transport.healthEndpoint === undefined || hasFailedProbe(agent))) {
      const left = this.#letGo(agent, facts);
      this.probe(left);
      return left;
    }
    const suspicion = liveness.suspicion ?? { cause: 'silence', at: now, isLapsed: false };
    const suspect = this.#parts.ledger.change(agent, { liveness: { ...facts, suspicion } }, 'beat_missed');
    this.probe(suspect);
    return suspect;
  }

  /** The lease ran out and nothing answers: offline, or kept while too many run out together. */
  #letGo(agent: RegisteredAgent, facts: NonNullable<AgentFacts['liveness']> = {}): RegisteredAgent {
    if (!this.#preservation.keeps()) return this.#endLease(agent);
    const at = this.#parts.clock.now();
    const suspicion: Suspicion = { ...(agent.liveness.suspicion ?? { cause: 'silence', at }), isLapsed: true };
    return this.#parts.ledger.change(agent, { liveness: { ...facts, suspicion } }, silenceOf(agent));
  }

  #letGoOfKept(): void {
    for (const agent of [...this.#parts.ledger.directory.all()]) {
      const { record, liveness } = agent;
      if (record.offlineAt !== null || liveness.suspicion?.isLapsed !== true) continue;
      this.#endLease(agent);
    }
  }

  #onProbed({ agentId, incarnation }: ProbeTarget, answer: ProbeAnswer): void {
    const { ledger, writer, clock, onProbeFailed } = this.#parts;
    const agent = ledger.directory.agent(agentId);
    if (agent === undefined || agent.record.incarnation !== incarnation || agent.record.offlineAt !== null) return;
    const { record, liveness } = agent;
    const probe = { at: clock.now(), isAnswered: answer.isAnswered, detail: answer.detail };
    if (answer.isAnswered) {
      const status = answer.status ?? liveness.status;
      const isDrainNew = status === 'draining' && record.drain === null;
      const drain = isDrainNew ? { by: null, at: clock.wallNow(), until: null } : record.drain;
      ledger.change(
        agent,
        { record: isDrainNew ? { ...record, drain } : record, liveness: { probe, status, suspicion: null } },
        'probe_answered',
      );
      if (isDrainNew) writer.syncAgent(agentId);
      return;
    }
    // A beat may have come in the meantime: it knows better.
    if (liveness.suspicion === null) return;
    const doubted = ledger.change(agent, { liveness: { probe } }, 'probe_failed');
    if (doubted.liveness.hasLapsed && this.#isSweeping) this.#letGo(doubted);
    else onProbeFailed(doubted);
  }

  #onStall(lateMs: number): void {
    log('warn', 'the process stood still; no silence of that time counts', { lateMs: Math.round(lateMs) });
    this.#resumedAt = this.#parts.clock.now();
    for (const agent of this.#parts.ledger.directory.all()) this.watch(agent);
  }

  #census(): LeaseCensus {
    const now = this.#parts.clock.now();
    let leases = 0;
    let ending = 0;
    for (const agent of this.#parts.ledger.directory.all()) {
      if (agent.record.offlineAt !== null) continue;
      leases += 1;
      if (agent.liveness.probe?.isAnswered === true && agent.liveness.suspicion === null) continue;
      const { heartbeatIntervalMs } = agent.record;
      if (missedBeatsAt(agent.liveness.heardAt, heartbeatIntervalMs, now) === 0) continue;
      if (this.#lapseAt(agent) - heartbeatIntervalMs <= now) ending += 1;
    }
    return { leases, ending };
  }

  #evict(agentId: string): void {
    const { clock, ledger, writer, onEvicted } = this.#parts;
    const evict = async (): Promise<void> => {
      const agent = ledger.directory.agent(agentId);
      // It may have come back while it waited for its turn.
      if (agent === undefined || agent.record.offlineAt === null) return;
      if (clock.now() < (agent.liveness.evictionDueAt ?? 0)) return this.watch(agent);
      await writer.removeAgent(agent.record.agentId, 'evicted');
      const latest = ledger.directory.agent(agentId);
      if (latest === undefined) return;
      if (latest.record.offlineAt === null) return writer.syncAgent(agentId);
      this.forget(agentId);
      ledger.remove(latest, 'agent.evicted');
      onEvicted(agentId);
    };
    writer.inTurn(agentId, evict).catch((error: unknown) => {
      log('error', 'an agent long offline was not evicted; tried again later', { agentId, reason: errorText(error) });
      if (this.#isSweeping) this.#deadlines.set(agentId, clock.now() + RETRY_EVICTION_MS);
    });
  }
}

function silenceOf(agent: RegisteredAgent): StateReason {
  return hasFailedProbe(agent) ? 'probe_failed' : 'lease_lapsed';
}

/** Nothing answered since the last beat. */
function hasFailedProbe({ liveness }: RegisteredAgent): boolean {
  return liveness.probe !== null && !liveness.probe.isAnswered && liveness.probe.at >= liveness.heardAt;
}
