/** What beats cost: how many a second one instance holds, what routes pay for them, and how soon the dead are left. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { assertAllTaken, BATCH, beatsHeld, registerBeating, registrationOf } from '../beating-agents.ts';
import { type RunningChild, startBuiltService } from '../child.ts';
import { type LoadResult, load, median, post } from '../http-load.ts';
import { type OpenLoopPlan, openLoop } from '../open-loop.ts';
import { memoryOf } from '../process-memory.ts';
import { type BenchCase, type Finding, isQuick, shown } from '../report.ts';

const AGENTS = isQuick ? 1_000 : 10_000;
const RETURNING = isQuick ? 300 : 2_000;
/** Between two beats of an agent. */
const INTERVAL_SECONDS = 30;
const CAPABILITIES = 100;
const BEATS_A_SECOND = 10_000;
const ROUNDS = isQuick ? 2 : 6;
const SECONDS = isQuick ? 1 : 4;
/** Of a round that the service no longer keeps up with. */
const LONGEST_SECONDS = 120;
const AGENT_SCRIPT = fileURLToPath(new URL('../../test/app/agent-process.mjs', import.meta.url));

const capabilityOf = (n: number): string => `bench.run.task_${n % CAPABILITIES}`;
const routeBody = (n: number): string => JSON.stringify({ capability: capabilityOf(n) });

/**
 * Rounds with and without, one after the other: what disturbs the machine disturbs both. The other load lasts as long
 * as the routes do, and must be taken whole.
 */
async function routesBeside(
  { url }: RunningChild,
  other: Pick<OpenLoopPlan, 'url' | 'perSecond' | 'body' | 'assertAnswer'>,
): Promise<{ quiet: LoadResult[]; disturbed: LoadResult[] }> {
  const quiet: LoadResult[] = [];
  const disturbed: LoadResult[] = [];
  const plan = { url: `${url}/v1/route`, concurrency: 16, body: routeBody };
  const warm = await load({ ...plan, requests: 4_000 });
  const requests = Math.round(warm.perSecond * SECONDS);
  for (let round = 0; round < ROUNDS; round++) {
    quiet.push(await load({ ...plan, requests }));
    let isOver = false;
    const beside = openLoop({ ...other, seconds: LONGEST_SECONDS, isOver: () => isOver });
    disturbed.push(
      await load({ ...plan, requests }).finally(() => {
        isOver = true;
      }),
    );
    const { failed, sent } = await beside;
    if (failed > 0 || sent === 0) throw new Error(`${failed} of ${sent} requests beside the routes failed`);
  }
  return { quiet, disturbed };
}

async function routesWhileBeating(service: RunningChild, batches: readonly string[]): Promise<Finding> {
  const body = (n: number): string => batches[n % batches.length] ?? '';
  const url = `${service.url}/v1/heartbeats`;
  const beats = { url, perSecond: BEATS_A_SECOND / BATCH, body, assertAnswer: assertAllTaken };
  const { quiet, disturbed } = await routesBeside(service, beats);
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
    return registrationOf(`agent-${i}`, capabilityOf(i));
  };
  const perSecond = RETURNING / INTERVAL_SECONDS;
  const { quiet, disturbed } = await routesBeside(service, { url, perSecond, body });
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
      const batches = await registerBeating(service.url, AGENTS, capabilityOf);
      const what = `beats a second, ${BATCH} in a call, over HTTP with lmdb`;
      const held = SECONDS * BEATS_A_SECOND * 2;
      const beats = await beatsHeld(service.url, { what, batches, beats: held, target: BEATS_A_SECOND });
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
