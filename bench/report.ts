/** What a benchmark found, and the artefact that `npm run bench` leaves in bench/results/. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Finding {
  readonly what: string;
  readonly measured: string;
  readonly target: string;
  /** null: there is no target. */
  readonly isMet: boolean | null;
  readonly note: string;
  readonly figures: Readonly<Record<string, number>>;
}

export interface BenchCase {
  readonly name: string;
  run(): Promise<readonly Finding[]>;
}

/** Small sizes, to see that the cases run: their figures say nothing. */
export const isQuick = process.env.BENCH_QUICK === '1';

const RESULTS = join(import.meta.dirname, 'results');

export function shown(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function machine(): Record<string, string> {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  return {
    node: process.version,
    cpu: `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    commit: git('rev-parse', '--short', 'HEAD'),
    date: new Date().toISOString().slice(0, 10),
  };
}

const MARK = { true: 'met', false: 'missed', null: '' } as const;

/** Writes `<name>.json` and `<name>.md`; findings of cases that did not run this time stay as they were. */
export function writeReport(name: string, findings: ReadonlyMap<string, readonly Finding[]>): void {
  mkdirSync(RESULTS, { recursive: true });
  const file = join(RESULTS, `${name}.json`);
  const before = readBefore(file);
  const on = machine();
  for (const [title, found] of findings) before[title] = { on, findings: found };
  writeFileSync(file, `${JSON.stringify(before, null, 2)}\n`);
  const lines = [
    `# ${name}`,
    '',
    'Made by `npm run bench`; ratios come from one interleaved run each, the rest depends on the machine.',
    '',
  ];
  for (const [title, { on: where, findings: found }] of Object.entries(before)) {
    lines.push(
      `## ${title}`,
      '',
      Object.entries(where)
        .map(([key, value]) => `${key} ${value}`)
        .join(', '),
      '',
    );
    lines.push('| what | measured | target | | note |', '|---|---|---|---|---|');
    for (const one of found) {
      lines.push(`| ${one.what} | ${one.measured} | ${one.target} | ${MARK[`${one.isMet}`]} | ${one.note} |`);
    }
    lines.push('');
  }
  writeFileSync(join(RESULTS, `${name}.md`), lines.join('\n'));
}

type Stored = Record<string, { on: Record<string, string>; findings: readonly Finding[] }>;

function readBefore(file: string): Stored {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Stored;
  } catch {
    return {};
  }
}
