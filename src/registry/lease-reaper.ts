/**
 * Ends what is over: a lease that ran out and an `expiresAt` that passed make an agent offline at once; an agent
 * offline for a day is evicted. Deadlines count on the clock that never goes back; only `expiresAt` asks the wall
 * clock. One timer serves all agents.
 */
import { type Clock, errorText, log } from '../core/index.ts';
import type { AgentLedger } from './agent-ledger.ts';
import type { RegisteredAgent } from './agent-record.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import { stateOf } from './health.ts';
import { isExpired, leaseDeadline } from './lease.ts';
import type { RegistryWriter } from './registry-writer.ts';

/** How soon an eviction that the store refused is tried again. */
const RETRY_EVICTION_MS = 60_000;

export interface LeaseReaperParts {
  readonly clock: Clock;
  readonly ledger: AgentLedger;
  readonly writer: RegistryWriter;
  readonly keepOfflineMs: number;
  readonly missedBeats: number;
}

export class LeaseReaper {
  readonly #parts: LeaseReaperParts;
  readonly #deadlines: DeadlineQueue;

  constructor(parts: LeaseReaperParts) {
    this.#parts = parts;
    this.#deadlines = new DeadlineQueue({ clock: parts.clock, onDue: (agentId) => this.#onDue(agentId) });
  }

  /** From now on for a full lease; for an offline agent until its eviction. */
  watch({ record }: RegisteredAgent): void {
    const { clock, keepOfflineMs, missedBeats } = this.#parts;
    const wallAhead = clock.now() - clock.wallNow();
    if (record.offlineAt !== null) {
      this.#deadlines.set(record.agentId, record.offlineAt + keepOfflineMs + wallAhead);
      return;
    }
    const lease = leaseDeadline(clock.now(), record.heartbeatIntervalMs, missedBeats);
    this.#deadlines.set(
      record.agentId,
      record.expiresAt === null ? lease : Math.min(lease, record.expiresAt + wallAhead),
    );
  }

  forget(agentId: string): void {
    this.#deadlines.delete(agentId);
  }

  /** Out of routing when this returns; stored in the background. */
  takeOffline(agent: RegisteredAgent): RegisteredAgent {
    const { clock, ledger, writer } = this.#parts;
    const { liveness } = agent;
    const record = { ...agent.record, offlineAt: clock.wallNow() };
    const state = stateOf({ isOffline: true, status: liveness.status });
    const offline: RegisteredAgent = { record, liveness: { ...liveness, state } };
    ledger.replace(offline);
    writer.syncAgent(record.agentId);
    this.watch(offline);
    return offline;
  }

  stop(): void {
    this.#deadlines.stop();
  }

  #onDue(agentId: string): void {
    const agent = this.#parts.ledger.directory.agent(agentId);
    if (agent === undefined) return;
    if (agent.record.offlineAt === null) this.takeOffline(agent);
    else this.#evict(agentId);
  }

  #evict(agentId: string): void {
    const { clock, ledger, writer, keepOfflineMs } = this.#parts;
    const evict = async (): Promise<void> => {
      const agent = ledger.directory.agent(agentId);
      // It may have come back while it waited for its turn.
      if (agent === undefined || agent.record.offlineAt === null) return;
      if (!isExpired(agent.record.offlineAt + keepOfflineMs, clock.wallNow())) return this.watch(agent);
      await writer.removeAgent(agent.record.agentId);
      const latest = ledger.directory.agent(agentId);
      if (latest === undefined) return;
      if (latest.record.offlineAt === null) return writer.syncAgent(agentId);
      this.forget(agentId);
      ledger.remove(latest, 'agent.evicted');
    };
    writer.inTurn(agentId, evict).catch((error: unknown) => {
      log('error', 'an agent long offline was not evicted; tried again later', { agentId, reason: errorText(error) });
      this.#deadlines.set(agentId, clock.now() + RETRY_EVICTION_MS);
    });
  }
}
