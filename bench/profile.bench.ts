/**
 * Where a route's time goes: `npm run bench:profile`. Stages as the service times them itself, p50 and p99, for cold
 * routes and for hits, and the functions that its process spends most of its own time in while it serves hits.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerAll } from './cases/routes-http.ts';
import { startBuiltService } from './child.ts';
import { load, post, quantile } from './http-load.ts';
import { shown } from './report.ts';
import { request } from './texts.ts';

const COLD = 300;
const HITS = 3_000;
const PROFILED_HITS = 40_000;
const SHOWN_FUNCTIONS = 25;

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

async function stages(url: string, count: number, body: (n: number) => string): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    const { text } = await post(url, body(n));
    const { timings } = JSON.parse(text) as { timings: Record<string, number> };
    const all = { ...timings, 'as the client sees it': performance.now() - start };
    for (const [stage, ms] of Object.entries(all)) times.set(stage, [...(times.get(stage) ?? []), ms]);
  }
  return times;
}

function printStages(title: string, times: ReadonlyMap<string, number[]>): void {
  console.log(`\n${title}`);
  for (const [stage, values] of times) {
    const sorted = values.toSorted((a, b) => a - b);
    const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)];
    console.log(`  ${stage.padEnd(24)} p50 ${p50.toFixed(3).padStart(8)} ms   p99 ${p99.toFixed(3).padStart(8)} ms`);
  }
}

function printFunctions(folder: string): void {
  // The largest profile is that of the main thread; builder threads leave small ones.
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const [largest] = files.sort((a, b) => b.length - a.length);
  if (largest === undefined) throw new Error('the service left no profile');
  const { nodes, samples, timeDeltas } = JSON.parse(largest) as CpuProfile;
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const place = url === '' ? '' : ` ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`;
      return [id, `${functionName || '(anonymous)'}${place}`];
    }),
  );
  const own = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    if (name !== '(idle)') own.set(name, (own.get(name) ?? 0) + (timeDeltas[i] ?? 0));
  }
  const total = [...own.values()].reduce((sum, us) => sum + us, 0);
  console.log('\nown CPU time of the service process, start included, %');
  for (const [name, us] of [...own].sort((a, b) => b[1] - a[1]).slice(0, SHOWN_FUNCTIONS)) {
    console.log(`  ${shown((100 * us) / total).padStart(6)}  ${name}`);
  }
}

const profiles = mkdtempSync(join(tmpdir(), 'agent-reach-profile-'));
const service = await startBuiltService({}, undefined, ['--cpu-prof', `--cpu-prof-dir=${profiles}`]);
await registerAll(service.url);
const url = `${service.url}/v1/route`;
const hot = JSON.stringify({ intent: request(1) });
printStages(
  `cold route, one at a time, ${COLD}`,
  await stages(url, COLD, (n) => JSON.stringify({ intent: request(40_000_000 + n) })),
);
printStages(`hit, one at a time, ${HITS}`, await stages(url, HITS, () => hot));
await load({ url, concurrency: 16, requests: PROFILED_HITS, body: () => hot });
await service.stop();
printFunctions(profiles);
rmSync(profiles, { recursive: true });
process.exit(0);
