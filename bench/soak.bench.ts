/**
 * `npm run bench:soak [minutes]`, 10 unless given: a long mixed load on the built service, and whether its heap, its
 * handles and its descriptors stay flat. Leaves bench/results/soak.{json,md}; ends with 1 where something grows or a
 * request failed. Under five minutes the warm-up is most of what is seen: growth is then shown and not judged.
 */
import { readdirSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { startBuiltService } from './child.ts';
import { memoryOf } from './process-memory.ts';
import { type Finding, shown, writeReport } from './report.ts';
import { floorsOf, type Sample, slopeOf } from './slope.ts';
import { SoakLoad } from './soak-load.ts';

const MIB = 2 ** 20;
const WINDOWS = 10;
const MAX_HEAP_GROWTH_SHARE = 0.05;
/** What malloc keeps between uses counts too. */
const MAX_RESIDENT_GROWTH_SHARE = 0.1;
/** Descriptors and handles come and go with connections. */
const MAX_MORE_HANDLES = 5;
const MAX_SKIPPED_SHARE = 0.02;
const ROWS_SHOWN = 12;
const SHORTEST_JUDGED_MINUTES = 5;
/** A full collection of this heap takes a tenth of it. */
const COLLECT_MS = 500;

interface Row {
  readonly seconds: number;
  readonly heapMb: number;
  readonly rssMb: number;
  readonly modelMb: number;
  readonly handles: number;
  readonly descriptors: number;
}
type Column = Exclude<keyof Row, 'seconds'>;

const minutes = Number(process.argv[2] ?? 10);
if (!(minutes >= 0.5 && minutes <= 24 * 60)) {
  console.error('minutes must be a number from 0.5 to 1440');
  process.exit(2);
}
const isJudged = minutes >= SHORTEST_JUDGED_MINUTES;
const sampleMs = Math.min(5_000, Math.max(1_000, (minutes * 60_000) / 120));

async function sample(url: string, pid: number, seconds: number): Promise<Row> {
  process.kill(pid, 'SIGUSR2');
  await sleep(COLLECT_MS);
  const text = await (await fetch(`${url}/metrics`)).text();
  const read = (name: string): number => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  const { serviceMb, modelMb } = memoryOf(pid);
  return {
    seconds,
    heapMb: read('nodejs_heap_size_used_bytes') / MIB,
    rssMb: serviceMb,
    modelMb,
    handles: read('nodejs_active_handles_total'),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

function floorSlope(rows: readonly Row[], column: Column) {
  const samples: Sample[] = rows.map((row) => ({ seconds: row.seconds, value: row[column] }));
  return slopeOf(floorsOf(samples, WINDOWS));
}

interface Watched {
  readonly column: Column;
  readonly what: string;
  /** Growth over the second half that is taken for none, its error included: noise speaks against us. */
  readonly most: number;
  readonly unit: string;
}

function growthFinding(rows: readonly Row[], { column, what, most, unit }: Watched): Finding {
  const { mean, perHour, standardError } = floorSlope(rows, column);
  const hours = ((rows.at(-1)?.seconds ?? 0) - (rows[0]?.seconds ?? 0)) / 3_600;
  const [grown, error] = [perHour * hours, 2 * standardError * hours];
  const isFlat = grown + error <= most;
  return {
    what,
    measured: `${shown(mean)}${unit}, ${shown(grown)} ± ${shown(error)}${unit} more over the second half`,
    target: `at most ${shown(most)}${unit} more, error included`,
    isMet: isJudged ? isFlat : null,
    note: isFlat ? 'flat' : grown - error > 0 ? 'grows' : 'cannot be told from noise',
    figures: { mean, perHour, standardError, grown, error },
  };
}

function requestsFinding({ byStatus, ticks, skippedTicks }: SoakLoad['counts']): Finding {
  const statuses = [...byStatus].sort(([a], [b]) => a - b);
  const all = statuses.reduce((sum, [, count]) => sum + count, 0);
  const failed = statuses.reduce((sum, [status, count]) => (status >= 200 && status < 300 ? sum : sum + count), 0);
  return {
    what: 'requests',
    measured: `${all}, ${failed} failed`,
    target: `none fails, at most ${MAX_SKIPPED_SHARE * 100} % of the ticks left out`,
    isMet: failed === 0 && skippedTicks <= MAX_SKIPPED_SHARE * ticks,
    note: `${statuses.map(([status, count]) => `${status}: ${count}`).join(', ')}; ${skippedTicks} of ${ticks} ticks left out; ${loadNote()}`,
    figures: { all, failed, skippedTicks },
  };
}

/** On a machine that others use the model is too slow for the rate, and what comes too late is refused: 503, 504. */
function loadNote(): string {
  return `load average of the machine ${shown(loadavg()[1] ?? Number.NaN)} on ${availableParallelism()} CPUs`;
}

function print(rows: readonly Row[]): void {
  const columns: Column[] = ['heapMb', 'rssMb', 'modelMb', 'handles', 'descriptors'];
  console.log(['seconds', ...columns].map((name) => name.padStart(12)).join(''));
  const every = Math.max(1, Math.ceil(rows.length / ROWS_SHOWN));
  for (const row of rows.filter((_, i) => i % every === 0)) {
    const figures = [row.seconds, ...columns.map((column) => row[column])];
    console.log(figures.map((figure) => shown(figure).padStart(12)).join(''));
  }
}

const service = await startBuiltService({
  // Caches that fill for an hour would look like a leak in ten minutes.
  AGENT_REACH_ROUTING_CACHE_ENTRIES: '200',
  AGENT_REACH_EMBEDDER_CACHE_ENTRIES: '200',
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'collect-garbage.mjs')).href}`,
});
const pid = service.process.pid ?? 0;
const load = new SoakLoad(service.url);
await load.start();
const start = performance.now();
const rows: Row[] = [];
while (performance.now() - start < minutes * 60_000) {
  await sleep(sampleMs - COLLECT_MS);
  rows.push(await sample(service.url, pid, (performance.now() - start) / 1_000));
}
await load.stop();
await service.stop();

print(rows);
const second = rows.slice(Math.floor(rows.length / 2));
const meanOf = (column: Column): number => floorSlope(second, column).mean;
const heap = MAX_HEAP_GROWTH_SHARE * meanOf('heapMb');
const resident = MAX_RESIDENT_GROWTH_SHARE * meanOf('rssMb');
const model = MAX_RESIDENT_GROWTH_SHARE * meanOf('modelMb');
const watched: readonly Watched[] = [
  { column: 'heapMb', what: 'heap of the service, garbage collected', most: heap, unit: ' MB' },
  { column: 'rssMb', what: 'resident memory of the service', most: resident, unit: ' MB' },
  { column: 'modelMb', what: 'resident memory of the model process', most: model, unit: ' MB' },
  { column: 'handles', what: 'handles', most: MAX_MORE_HANDLES, unit: '' },
  { column: 'descriptors', what: 'file descriptors', most: MAX_MORE_HANDLES, unit: '' },
];
const findings = [...watched.map((one) => growthFinding(second, one)), requestsFinding(load.counts)];
for (const { what, measured, note } of findings) console.log(`${what}: ${measured} (${note})`);
writeReport('soak', new Map([[`soak of ${minutes} minutes`, findings]]));
process.exit(findings.some(({ isMet }) => isMet === false) ? 1 : 0);
