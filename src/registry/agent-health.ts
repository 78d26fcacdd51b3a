/**
 * What agents, callers and operators say of an agent's health, and what follows. Beats and reports are answered from
 * memory; an operator's word is stored before it is answered. An operator's word beats an agent's.
 */
import type {
  CordonRequest,
  DrainRequest,
  Heartbeat,
  HeartbeatBatch,
  HeartbeatBatchReply,
  HeartbeatReply,
  OutcomeReply,
  OutcomeReport,
  StateReason,
  Warning,
} from '../contract/index.ts';
import { AgentReachError, type Clock, isAgentReachError } from '../core/index.ts';
import type { AgentFacts, AgentLedger } from './agent-ledger.ts';
import type { AgentLiveness, AgentRecord, Cordon, RegisteredAgent } from './agent-record.ts';
import { CallerReports } from './caller-reports.ts';
import { factsOf, isRoutable, stateOf } from './health.ts';
import type { HealthProber } from './health-prober.ts';
import { HealthWatch } from './health-watch.ts';
import { beaten, REPORT_HOLD_MS } from './heartbeat.ts';
import { isExpired, isExpirySoon, nextHeartbeatMs } from './lease.ts';
import type { RegistryWriter } from './registry-writer.ts';

export interface AgentHealthOptions {
  readonly keepOfflineMs: number;
  readonly missedBeats: number;
  readonly preserveMs: number;
  readonly maxEjectedShare: number;
  readonly drainTimeoutMs: number;
}

export interface AgentHealthParts {
  readonly clock: Clock;
  /** 0..1, for jitter. */
  readonly random: () => number;
  readonly ledger: AgentLedger;
  readonly writer: RegistryWriter;
  readonly prober: HealthProber;
  readonly options: AgentHealthOptions;
  readonly beats?: BeatSharing | undefined;
}

/** Where several instances share their agents. */
export interface BeatSharing {
  /** Refuses a beat that the others could not be told of. Error: AR_ERR_STORE_UNAVAILABLE. */
  assertOpen(): void;
  /** Before that moment no silence counts, since beats were refused or not told: at most `graceMs` after the last. */
  deafUntil(graceMs: number): number;
  /** Tells the others; never waits. */
  send(agent: RegisteredAgent, beat: Heartbeat): void;
}

export class AgentHealth {
  readonly watch: HealthWatch;
  readonly reports: CallerReports;
  readonly #parts: AgentHealthParts;

  constructor(parts: AgentHealthParts) {
    this.#parts = parts;
    this.reports = new CallerReports(parts.clock);
    this.watch = new HealthWatch({
      ...parts,
      ...parts.options,
      deafUntil: (graceMs) => parts.beats?.deafUntil(graceMs) ?? Number.NEGATIVE_INFINITY,
      onProbeFailed: (agent) => this.#ejectIfFailing(agent),
      onEvicted: (agentId) => this.reports.forget(agentId),
    });
  }

  /** The agent that holds this lease; `leaseId` null is an operator. Errors: AR_ERR_AGENT_NOT_FOUND; AR_ERR_STALE_LEASE. */
  ownedBy(agentId: string, leaseId: string | null): RegisteredAgent {
    const agent = this.known(agentId);
    if (leaseId === null || agent.record.leaseId === leaseId) return agent;
    throw new AgentReachError('AR_ERR_STALE_LEASE', {
      detail: `agent ${agentId} has registered since: incarnation ${agent.record.incarnation} holds the lease`,
    });
  }

  /** Error: AR_ERR_AGENT_NOT_FOUND. */
  known(agentId: string): RegisteredAgent {
    const agent = this.#parts.ledger.directory.agent(agentId);
    if (agent !== undefined) return agent;
    throw new AgentReachError('AR_ERR_AGENT_NOT_FOUND', { detail: `no agent is registered as ${agentId}` });
  }

  /** Errors: AR_ERR_LEASE_FORGOTTEN; AR_ERR_STALE_LEASE, which changes nothing. */
  beat(agentId: string, beat: Heartbeat): HeartbeatReply {
    const { clock, ledger, writer, random, beats } = this.#parts;
    beats?.assertOpen();
    if (ledger.directory.agent(agentId) === undefined) {
      throw new AgentReachError('AR_ERR_LEASE_FORGOTTEN', {
        detail: `no agent is registered as ${agentId} any more: register again`,
      });
    }
    const agent = this.ownedBy(agentId, beat.leaseId);
    const moment = { nowMs: clock.now(), wallAt: clock.wallNow() };
    const learnt = beaten(agent, beat, moment);
    const ended = endOf({ ...agent.liveness, ...learnt.liveness }, moment.nowMs);
    const isOver = ended !== null && agent.record.offlineAt === null;
    const current = isOver ? this.watch.takeOffline(agent, ended, learnt) : ledger.change(agent, learnt, 'beat');
    if (!isOver) {
      this.watch.watch(current);
      if (current.record !== agent.record) writer.syncAgent(agentId);
      if (current.liveness.suspicion !== null) this.watch.probe(current);
    }
    beats?.send(current, beat);
    const { record, liveness } = current;
    return {
      agentId: record.agentId,
      incarnation: record.incarnation,
      state: liveness.state,
      nextHeartbeatMs: nextHeartbeatMs(record.heartbeatIntervalMs, random()),
      warnings: warningsOf(current, moment.nowMs, moment.wallAt),
      ...this.#flags(),
    };
  }

  /** In the order of the beats; one that is refused keeps none of the others from counting. */
  beats({ beats }: HeartbeatBatch): HeartbeatBatchReply {
    let refused = 0;
    const results = beats.map(({ agentId, ...beat }) => {
      try {
        const { registry: _, ...reply } = this.beat(agentId, beat);
        return reply;
      } catch (error) {
        if (!isAgentReachError(error)) throw error;
        refused += 1;
        return { agentId, error: { code: error.code, detail: error.message } };
      }
    });
    return { results, refused, ...this.#flags() };
  }

  /** Error: AR_ERR_AGENT_NOT_FOUND. */
  report(agentId: string, report: OutcomeReport): OutcomeReply {
    const agent = this.known(agentId);
    const counted = agent.record.offlineAt === null && this.reports.count(agentId, report);
    const current = counted && report.outcome !== 'success' ? this.#doubt(agent) : agent;
    const { state, reason } = current.liveness;
    return { agentId, state, stateReason: reason, counted };
  }

  /** Stored when it resolves. Errors: AR_ERR_AGENT_NOT_FOUND; AR_ERR_STORE_UNAVAILABLE; AR_ERR_STOPPING. */
  cordon(agentId: string, { reason }: CordonRequest, by: string): Promise<RegisteredAgent> {
    const at = this.#parts.clock.wallNow();
    return this.#command(agentId, null, 'cordoned', ({ record }) =>
      record.cordoned?.reason === reason && record.cordoned.by === by
        ? {}
        : { record: { ...record, cordoned: { by, at, reason } } },
    );
  }

  /** As `cordon`; of an agent that is not cordoned it changes nothing. */
  uncordon(agentId: string): Promise<RegisteredAgent> {
    return this.#command(agentId, null, 'uncordoned', ({ record }) =>
      record.cordoned === null ? {} : { record: { ...record, cordoned: null } },
    );
  }

  /**
   * No new work for this start of the agent, and offline at the deadline. `by` null: its own word, with its lease.
   * Errors: those of `cordon`; AR_ERR_STALE_LEASE.
   */
  drain(
    agentId: string,
    { drainTimeoutMs }: DrainRequest,
    leaseId: string | null,
    by: string | null,
  ): Promise<RegisteredAgent> {
    const { clock, options } = this.#parts;
    const lastsMs = drainTimeoutMs ?? options.drainTimeoutMs;
    const at = clock.wallNow();
    return this.#command(agentId, leaseId, 'drain_asked', ({ record }) => {
      const isOperators = record.drain !== null && record.drain.by !== null;
      if (by === null && isOperators) return {};
      return {
        record: { ...record, drain: { by, at, until: at + lastsMs } },
        liveness: { drainDueAt: clock.now() + lastsMs },
      };
    });
  }

  /** Takes a drain back, an agent's own word too, as long as it is not over. Errors: those of `cordon`. */
  endDrain(agentId: string): Promise<RegisteredAgent> {
    return this.#command(agentId, null, 'drain_ended', ({ record, liveness }) => {
      if (record.drain === null || record.offlineAt !== null) return {};
      const status = liveness.status === 'draining' ? 'healthy' : liveness.status;
      return { record: { ...record, drain: null }, liveness: { drainDueAt: null, status } };
    });
  }

  /** After a load: whoever's time was up while nobody looked is taken out, the others are watched. */
  settle(agent: RegisteredAgent): void {
    const ended = agent.record.offlineAt === null ? endOf(agent.liveness, this.#parts.clock.now()) : null;
    if (ended === null) this.watch.watch(agent);
    else this.watch.takeOffline(agent, ended);
  }

  /** A new start is under watch and has no reports yet. */
  startAnew(agent: RegisteredAgent): void {
    this.reports.startAnew(agent.record.agentId);
    this.watch.watch(agent);
  }

  forget(agentId: string): void {
    this.watch.forget(agentId);
    this.reports.forget(agentId);
  }

  stop(): void {
    this.watch.stop();
  }

  #flags(): { registry?: { preserving: boolean } } {
    return this.#parts.ledger.directory.preserving ? { registry: { preserving: true } } : {};
  }

  /** Stored first, then in memory: on what the agent is by then, since a beat may have come in between. */
  async #command(
    agentId: string,
    leaseId: string | null,
    why: StateReason,
    facts: (agent: RegisteredAgent) => AgentFacts,
  ): Promise<RegisteredAgent> {
    const { ledger, writer } = this.#parts;
    return writer.inTurn(agentId, async () => {
      const agent = this.ownedBy(agentId, leaseId);
      const { record, liveness } = facts(agent);
      if (record === undefined) return agent;
      const stored: AgentRecord = { ...record, revision: agent.record.revision + 1 };
      const state = stateOf(factsOf(stored, { ...agent.liveness, ...liveness }));
      await writer.commitWord(stored, { why, state });
      const latest = this.known(agentId);
      const changed = ledger.change(latest, facts(latest), why);
      this.watch.watch(changed);
      if (changed.record.revision !== stored.revision) writer.syncAgent(agentId);
      return changed;
    });
  }

  #doubt(agent: RegisteredAgent): RegisteredAgent {
    const { clock, ledger } = this.#parts;
    const { suspicion, probe } = agent.liveness;
    const at = clock.now();
    // Just asked: a storm of reports must not become a storm of probes. They count all the same.
    const isFresh = probe !== null && at - probe.at < REPORT_HOLD_MS / 2;
    if (isFresh && probe.isAnswered) return agent;
    const doubt = { cause: 'report', at, isLapsed: suspicion?.isLapsed ?? false } as const;
    const doubted = ledger.change(agent, { liveness: { suspicion: doubt } }, 'failure_reported');
    if (!isFresh) this.watch.probe(doubted);
    return this.#ejectIfFailing(doubted);
  }

  /** Puts the agent aside where its callers have had enough, its own endpoint confirms it, and enough others are left. */
  #ejectIfFailing(agent: RegisteredAgent): RegisteredAgent {
    const { clock, ledger } = this.#parts;
    const { record, liveness } = agent;
    const isConfirmed = record.transport.healthEndpoint === undefined || liveness.probe?.isAnswered === false;
    if (!isConfirmed || !isRoutable(liveness.state) || !this.reports.isFailing(record.agentId)) return agent;
    if (!record.capabilities.every(({ name }) => this.#isSpared(record, name))) return agent;
    const ejectedDueAt = clock.now() + this.reports.eject(record.agentId);
    const ejected = ledger.change(agent, { liveness: { ejectedDueAt } }, 'ejected');
    this.watch.watch(ejected);
    return ejected;
  }

  /** Never more than the share of a capability's living agents, and never the last that takes work. */
  #isSpared({ namespace, agentId }: AgentRecord, name: AgentRecord['capabilities'][number]['name']): boolean {
    const { ledger, options } = this.#parts;
    const alive = ledger.directory.agentsOf(namespace, name).filter(({ record }) => record.offlineAt === null);
    const ejected = alive.filter(({ liveness }) => liveness.ejectedDueAt !== null).length;
    const isOtherLeft = alive.some(({ record, liveness }) => record.agentId !== agentId && isRoutable(liveness.state));
    return isOtherLeft && ejected + 1 <= options.maxEjectedShare * alive.length;
  }
}

function endOf({ expiryDueAt, drainDueAt }: AgentLiveness, nowMs: number): StateReason | null {
  if (expiryDueAt !== null && isExpired(expiryDueAt, nowMs)) return 'expired';
  return drainDueAt !== null && isExpired(drainDueAt, nowMs) ? 'drain_over' : null;
}

function warningsOf({ record, liveness }: RegisteredAgent, nowMs: number, wallAt: number): Warning[] {
  const warnings: Warning[] = [];
  const { expiryDueAt } = liveness;
  if (record.expiresAt !== null && expiryDueAt !== null) {
    const time = new Date(record.expiresAt).toISOString();
    const lifeMs = record.expiresAt - record.registeredAt;
    if (isExpired(expiryDueAt, nowMs)) {
      warnings.push({
        code: 'expired',
        message: `the registration expired at ${time}; register again to be routed to`,
      });
    } else if (isExpirySoon(expiryDueAt - lifeMs, expiryDueAt, nowMs)) {
      warnings.push({ code: 'expires_soon', message: `the registration expires at ${time}; register again to stay` });
    }
  }
  if (record.drain !== null && record.drain.by !== null) warnings.push(drainWarning(record.drain.until, wallAt));
  if (record.cordoned !== null) {
    warnings.push(cordonWarning(record.cordoned));
  }
  return warnings;
}

export function cordonWarning({ reason }: Cordon): Warning {
  return { code: 'cordoned', message: `an operator fenced this agent off: ${reason}` };
}

function drainWarning(until: number | null, wallAt: number): Warning {
  if (until === null) return { code: 'draining', message: 'an operator drains this agent: no new work comes' };
  const time = new Date(until).toISOString();
  const message =
    wallAt >= until
      ? `this agent was drained until ${time}; register again to be routed to`
      : `an operator drains this agent: no new work comes, and it is offline from ${time}`;
  return { code: 'draining', message };
}
