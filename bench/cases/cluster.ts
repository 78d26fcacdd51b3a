/** Several instances over one Redis: how soon one knows what another took, and how many beats a second they hold. */
import { TestRedis } from '../../test/storage/redis-server.ts';
import { BATCH, beatsHeld, registerBeating, registrationOf } from '../beating-agents.ts';
import { type RunningChild, startBuiltService } from '../child.ts';
import { post, quantile } from '../http-load.ts';
import { type BenchCase, type Finding, isQuick, shown } from '../report.ts';

const REGISTRATIONS = isQuick ? 30 : 500;
const AGENTS = isQuick ? 500 : 10_000;
const BEATS = isQuick ? 5_000 : 200_000;
const ROUTABLE_MS = 250;
const BEATS_A_SECOND = 20_000;

/** From the answer of the one to the first route of the other that answers the agent. */
async function routableElsewhere(a: RunningChild, b: RunningChild): Promise<Finding> {
  const times: number[] = [];
  for (let i = 0; i < REGISTRATIONS; i++) {
    const capability = `cluster.see_${i}.soon`;
    const { status, text } = await post(`${a.url}/v1/agents`, registrationOf(`seen-${i}`, capability));
    if (status !== 201) throw new Error(text);
    const answeredAt = performance.now();
    const body = JSON.stringify({ capability });
    while (!(await post(`${b.url}/v1/route`, body)).text.includes(`"agentId":"seen-${i}"`)) {
      if (performance.now() - answeredAt > 10_000) throw new Error('a registration was never seen elsewhere');
    }
    times.push(performance.now() - answeredAt);
  }
  times.sort((x, y) => x - y);
  const [p50Ms, p99Ms] = [quantile(times, 0.5), quantile(times, 0.99)];
  return {
    what: 'a registration is routable at another instance after',
    measured: `p50 ${shown(p50Ms)} ms, p99 ${shown(p99Ms)} ms`,
    target: `p99 <= ${ROUTABLE_MS} ms`,
    isMet: p99Ms <= ROUTABLE_MS,
    note: `${REGISTRATIONS} registrations of new names one after the other, from the answer to the first route`,
    figures: { p50Ms, p99Ms },
  };
}

export const clusterCase: BenchCase = {
  name: 'cluster',
  async run() {
    const redis = await TestRedis.start();
    const env = {
      REDIS_URL: redis.url,
      AGENT_REACH_INDEX_REBUILD_DEBOUNCE_MS: '0',
      AGENT_REACH_INDEX_REBUILD_MAX_WAIT_MS: '0',
    };
    const services: RunningChild[] = [];
    try {
      const a = await startBuiltService(env);
      services.push(a);
      const b = await startBuiltService(env);
      services.push(b);
      const routable = await routableElsewhere(a, b);
      const batches = await registerBeating(a.url, AGENTS, (i) => `bench.run.task_${i % 100}`);
      // The other instance takes in every one of them on the same two cores.
      const what = `beats a second, ${BATCH} in a call, over HTTP with Redis and another instance`;
      return [routable, await beatsHeld(a.url, { what, batches, beats: BEATS, target: BEATS_A_SECOND })];
    } finally {
      for (const service of services) await service.stop();
      await redis.stop();
    }
  },
};
