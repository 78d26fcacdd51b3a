/** What beats cost: how many a second one instance holds, what routes pay for them, and how soon the dead are left. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type RunningChild, startBuiltService } from '../child.ts';
import { type LoadResult, load, median, post } from '../http-load.ts';
import { openLoop } from '../open-loop.ts';
import { memoryOf } from '../process-memory.ts';
import { type BenchCase, type Finding, shown } from '../report.ts';

const IS_QUICK = process.env.BENCH_QUICK === '1';
const AGENTS = IS_QUICK ? 1_000 : 10_000;
const RETURNING = IS_QUICK ? 300 : 2_000;
/** Between two beats of an agent. */
const INTERVAL_SECONDS = 30;
const CAPABILITIES = 100;
const BATCH = 500;
const BEATS_A_SECOND = 10_000;
const ROUNDS = IS_QUICK ? 2 : 6;
const SECONDS = IS_QUICK ? 1 : 4;
const AGENT_SCRIPT = fileURLToPath(new URL('../../test/app/agent-process.mjs', import.meta.url));

interface Held {
  readonly agentId: string;
  readonly leaseId: string;
}

const registrationOf = (agentId: string, i: number): string =>
  JSON.stringify({
    agentId,
    capabilities: [`bench.run.task_${i % CAPABILITIES}`],
    transport: { type: 'local' },
    heartbeatIntervalMs: 3_600_000,
  });

const routeBody = (n: number): string => JSON.stringify({ capability: `bench.run.task_${n % CAPABILITIES}` });

/** Registers side by side: each waits for its own flush. */
async function registerMany(url: string, prefix: string, count: number): Promise<Held[]> {
  const held: Held[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const i = next++;
      const agentId = `${prefix}${i}`;
      const { status, text } = await post(`${url}/v1/agents`, registrationOf(agentId, i));
      if (status > 201) throw new Error(text);
      held.push({ agentId, leaseId: (JSON.parse(text) as Held).leaseId });
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  return held;
}

function batchesOf(held: readonly Held[]): string[] {
  const batches: string[] = [];
  for (let first = 0; first < held.length; first += BATCH) {
    const beats = held
      .slice(first, first + BATCH)
      .map(({ agentId, leaseId }, i) => ({ agentId, leaseId, load: { active: i % 4, queued: 0, max: 8 } }));
    batches.push(JSON.stringify({ beats }));
  }
  return batches;
}

async function beatsHeld({ url }: RunningChild, batches: readonly string[]): Promise<Finding> {
  const calls = Math.ceil((SECONDS * BEATS_A_SECOND * 2) / BATCH);
  const body = (n: number): string => batches[n % batches.length] ?? '';
  const { perSecond, p99Ms } = await load({ url: `${url}/v1/heartbeats`, concurrency: 4, requests: calls, body });
  const beats = perSecond * BATCH;
  return {
    what: `beats a second, ${BATCH} in a call, over HTTP with lmdb`,
    measured: `${shown(beats)}/s`,
    target: '>= 10,000/s',
    isMet: beats >= BEATS_A_SECOND,
    note: `${AGENTS} agents, p99 of a call ${shown(p99Ms)} ms`,
    figures: { beats, p99Ms },
  };
}

/** Rounds with and without, one after the other: what disturbs the machine disturbs both. */
async function routesBeside(
  { url }: RunningChild,
  disturb: (seconds: number) => Promise<unknown>,
): Promise<{ quiet: LoadResult[]; disturbed: LoadResult[] }> {
  const quiet: LoadResult[] = [];
  const disturbed: LoadResult[] = [];
  const plan = { url: `${url}/v1/route`, concurrency: 16, body: routeBody };
  const warm = await load({ ...plan, requests: 4_000 });
  const requests = Math.round(warm.perSecond * SECONDS);
  for (let round = 0; round < ROUNDS; round++) {
    quiet.push(await load({ ...plan, requests }));
    const [result] = await Promise.all([load({ ...plan, requests }), disturb(SECONDS)]);
    disturbed.push(result);
  }
  return { quiet, disturbed };
}

async function routesWhileBeating(service: RunningChild, batches: readonly string[]): Promise<Finding> {
  const body = (n: number): string => batches[n % batches.length] ?? '';
  const url = `${service.url}/v1/heartbeats`;
  const { quiet, disturbed } = await routesBeside(service, (seconds) =>
    openLoop({ url, perSecond: BEATS_A_SECOND / BATCH, seconds, body }),
  );
  const share = median(disturbed.map((one, i) => one.perSecond / (quiet[i]?.perSecond ?? Number.NaN)));
  return {
    what: `routes a second while ${BEATS_A_SECOND} beats/s come / quiet`,
    measured: shown(share),
    target: '>= 0.70',
    isMet: share >= 0.7,
    note: `${shown(median(quiet.map((one) => one.perSecond)))} routes/s quiet, ${ROUNDS} interleaved rounds`,
    figures: { share },
  };
}

/** As they come back by themselves: at the beat that each would have sent, so spread over one interval. */
async function routesWhileReturning(service: RunningChild): Promise<Finding> {
  const url = `${service.url}/v1/agents`;
  let next = 0;
  const body = (): string => {
    const i = next++ % RETURNING;
    return registrationOf(`agent-${i}`, i);
  };
  const perSecond = RETURNING / INTERVAL_SECONDS;
  const { quiet, disturbed } = await routesBeside(service, (seconds) => openLoop({ url, perSecond, seconds, body }));
  const ratio = median(disturbed.map((one, i) => one.p99Ms / (quiet[i]?.p99Ms ?? Number.NaN)));
  return {
    what: `p99 of routes while ${RETURNING} agents register again / quiet`,
    measured: shown(ratio),
    target: '< 2',
    isMet: ratio < 2,
    note: `p99 ${shown(median(quiet.map((one) => one.p99Ms)))} ms quiet; ${shown(perSecond)} registrations/s, over ${INTERVAL_SECONDS} s`,
    figures: { ratio },
  };
}

/** Two real agents that beat each second; one is killed. */
async function killToLastRoute({ url }: RunningChild): Promise<Finding> {
  const children = ['killed', 'other'].map((agentId) =>
    spawn(process.execPath, [AGENT_SCRIPT, url, agentId, '1000'], { stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  for (const child of children) {
    for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('registered')) break;
    child.stdout.resume();
  }
  const body = JSON.stringify({ capability: 'weather.query.city' });
  await sleep(1_500);
  children[0]?.kill('SIGKILL');
  const killedAt = performance.now();
  let lastMs = 0;
  let offlineMs = Number.NaN;
  while (Number.isNaN(offlineMs) && performance.now() - killedAt < 15_000) {
    for (let i = 0; i < 20; i++) {
      const { text } = await post(`${url}/v1/route`, body);
      if (text.includes('"agentId":"killed","agentName"')) lastMs = performance.now() - killedAt;
    }
    const { state } = (await (await fetch(`${url}/v1/agents/killed`)).json()) as { state: string };
    if (state === 'offline') offlineMs = performance.now() - killedAt;
  }
  for (const child of children) child.kill('SIGKILL');
  return {
    what: 'an agent that beats each second is killed: last route to it, and known dead, after',
    measured: `${shown(lastMs)} ms, ${shown(offlineMs)} ms`,
    target: '',
    isMet: null,
    note: 'with a health endpoint and another agent that is well; at 30 s between beats: 35 s and 90 s at most',
    figures: { lastMs, offlineMs },
  };
}

export const heartbeatsCase: BenchCase = {
  name: 'heartbeats',
  async run() {
    const service = await startBuiltService({
      AGENT_REACH_INDEX_REBUILD_DEBOUNCE_MS: '0',
      AGENT_REACH_INDEX_REBUILD_MAX_WAIT_MS: '0',
    });
    try {
      const pid = service.process.pid ?? 0;
      const emptyMb = memoryOf(pid).serviceMb;
      const batches = batchesOf(await registerMany(service.url, 'agent-', AGENTS));
      const beats = await beatsHeld(service, batches);
      const { serviceMb } = memoryOf(pid);
      const memory: Finding = {
        what: `memory of the service with ${AGENTS} agents, after their beats`,
        measured: `${shown(serviceMb)} MB`,
        target: '',
        isMet: null,
        note: `${shown(emptyMb)} MB without agents`,
        figures: { serviceMb, emptyMb },
      };
      return [
        beats,
        memory,
        await routesWhileBeating(service, batches),
        await routesWhileReturning(service),
        await killToLastRoute(service),
      ];
    } finally {
      await service.stop();
    }
  },
};
