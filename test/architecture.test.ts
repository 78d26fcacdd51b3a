/** The shape of src/, held by a machine: who may import whom, no cycles, doors, file length, no `any`. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../src/core/index.ts';

const ROOT = join(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');
const MAX_LINES = 400;

const ROOMS = [
  'core contract capability embedding vector-index lexical-index events registry rules routing transport dispatch',
  'redis storage telemetry http sdk console cli app',
]
  .join(' ')
  .split(' ');

/** Left may import right; nothing else. `storage` takes the ports of three rooms as types only. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  contract: ['core'],
  capability: ['core', 'contract'],
  embedding: ['core'],
  'vector-index': ['core'],
  'lexical-index': ['core'],
  events: ['core', 'contract'],
  registry: ['core', 'contract', 'capability', 'events'],
  rules: ['core', 'contract', 'capability'],
  routing: [
    'core',
    'contract',
    'capability',
    'events',
    'rules',
    'registry',
    'embedding',
    'vector-index',
    'lexical-index',
  ],
  transport: ['core', 'contract', 'redis'],
  dispatch: ['core', 'contract', 'events', 'registry', 'routing', 'transport'],
  redis: ['core'],
  storage: ['core', 'contract', 'redis'],
  telemetry: ['core'],
  http: ['core', 'contract', 'events', 'registry', 'rules', 'routing', 'dispatch', 'transport'],
  sdk: ['core', 'contract'],
  console: ['sdk', 'contract'],
  cli: ['sdk', 'contract', 'core', 'app'],
  app: ROOMS,
};
const TYPES_ONLY: Readonly<Record<string, readonly string[]>> = {
  storage: ['registry', 'rules', 'routing', 'capability'],
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

const FILES = filesUnder(SRC);
const roomOf = (file: string): string => relative(SRC, file).split('/')[0] ?? '';
const named = (file: string): string => relative(ROOT, file);

const IMPORT = /^\s*(?:import|export)\s+(type\s+)?([^'";]*?)from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm;

function importsOf(file: string): Import[] {
  const found: Import[] = [];
  for (const match of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const target = match[3] ?? match[4];
    if (target === undefined) continue;
    const names = (match[2] ?? '')
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim());
    const allTypes = names.filter((name) => name !== '').every((name) => name.startsWith('type '));
    found.push({
      from: file,
      to: join(dirname(file), target),
      typeOnly: match[1] !== undefined || (match[4] === undefined && allTypes),
    });
  }
  return found;
}

const IMPORTS = FILES.flatMap(importsOf);

describe('architecture', () => {
  it('finds the sources and their imports', () => {
    expect(FILES.length).toBeGreaterThan(50);
    expect(IMPORTS.length).toBeGreaterThan(100);
  });

  it('has only the rooms of the design', () => {
    const rooms = new Set(FILES.map(roomOf));
    rooms.delete('index.ts');
    expect([...rooms].filter((room) => !ROOMS.includes(room))).toEqual([]);
  });

  it('imports only along the table', () => {
    const wrong = IMPORTS.filter(({ from, to, typeOnly }) => {
      const [source, target] = [roomOf(from), roomOf(to)];
      if (source === target || source === 'index.ts') return false;
      if (MAY_IMPORT[source]?.includes(target)) return false;
      return !(typeOnly && TYPES_ONLY[source]?.includes(target));
    });
    expect(wrong.map(({ from, to }) => `${named(from)} -> ${named(to)}`)).toEqual([]);
  });

  it('enters a room by its door, and nobody inside imports the own door', () => {
    const wrong = IMPORTS.filter(({ from, to }) => {
      if (roomOf(from) === 'index.ts') return false;
      const isDoor = relative(SRC, to).split('/').length === 2 && to.endsWith('/index.ts');
      return roomOf(from) === roomOf(to) ? isDoor : !isDoor;
    });
    expect(wrong.map(({ from, to }) => `${named(from)} -> ${named(to)}`)).toEqual([]);
  });

  it('has no import cycle', () => {
    const graph = new Map<string, string[]>();
    for (const { from, to, typeOnly } of IMPORTS) {
      if (!typeOnly) graph.set(from, [...(graph.get(from) ?? []), to]);
    }
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].map(named).join(' -> '));
      if (done.has(file)) return;
      done.add(file);
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    };
    for (const file of FILES) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it(`keeps every file under ${MAX_LINES} lines`, () => {
    const everything = [...FILES, ...filesUnder(join(ROOT, 'test')), ...filesUnder(join(ROOT, 'bench'))];
    const long = everything.filter((file) => readFileSync(file, 'utf8').split('\n').length - 1 > MAX_LINES);
    expect(long.map(named)).toEqual([]);
  });

  it('lets no `any` escape', () => {
    const code = (file: string): string => readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const escaped = FILES.filter((file) => /(:\s*any\b|\bas any\b|<any>|any\[\])/.test(code(file)));
    expect(escaped.filter((file) => !file.endsWith('.d.ts')).map(named)).toEqual([]);
  });

  it('names files in kebab-case', () => {
    const odd = FILES.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts$/.test(file.split('/').at(-1) ?? ''));
    expect(odd.map(named)).toEqual([]);
  });

  it('documents every error code in the README, and no other', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const documented = new Map(
      [...readme.matchAll(/^\| `(AR_ERR_[A-Z_]+)` \| (\d+) \| (yes|no) \|/gm)].map((match) => [
        match[1] ?? '',
        `${match[2]} ${match[3]}`,
      ]),
    );
    const table = Object.entries(ERRORS).map(([code, { status, retryable }]) => [
      code,
      `${status} ${retryable ? 'yes' : 'no'}`,
    ]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(table));
  });
});
