/** `agent-reach strategies`, and a served file that SIGHUP reads again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type StrategiesReply, strategiesReloadReplySchema } from '../../src/contract/index.ts';
import { json, type StandIn, startStandIn } from '../sdk/stand-in-service.ts';
import { cleanEnvironment, cliArguments, runCli } from './run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'reach-strategies-'));
const running = new Set<ChildProcess>();
let service: StandIn;

const policy = {
  strategies: [
    { name: 'canary', value: 'true', version: '2.*', share: 0.05 },
    { name: 'best', within: 0 },
  ],
  weights: { latency: 0, load: 0.4, relevance: 0.6 },
  latencyBudgetMs: 5_000,
  queueLoad: 0.8,
  manyCandidates: 20,
  leastLoaded: 5,
};
const reply = strategiesReloadReplySchema.parse({
  result: 'shadowed',
  strategiesVersion: '3f9a1c0b7d24',
  source: 'api',
  document: {},
  warnings: [],
  effective: { default: policy, capabilities: { 'weather.*': policy } },
  file: { path: '/etc/s.yaml', strategiesVersion: null, problem: 'default: must be a section of keys (line 1)' },
  api: { setBy: 'ops', setAt: '2026-01-01T00:00:00.000Z', problem: null },
  catalogue: [],
});

beforeAll(async () => {
  service = await startStandIn({
    'GET /v1/strategies': () => json(reply),
    'PUT /v1/strategies': () => json(reply),
    'DELETE /v1/strategies': () => json(reply),
    'POST /v1/strategies/reload': () => json(reply),
  });
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], input?: string) =>
  runCli(['strategies', ...args], { env: { AGENT_REACH_URL: service.url }, ...(input === undefined ? {} : { input }) });

function fileWith(text: string, name = 'strategies.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Without a build, each run compiles the whole service. */
const SLOW_MS = 60_000;

describe('strategies', () => {
  it('shows what is in force, for whom, and what is wrong with the file', async () => {
    const { out, code } = await run([]);
    expect(code).toBe(0);
    expect(out).toContain('3f9a1c0b7d24');
    expect(out).toMatch(
      /weather\.\* +canary \(value true, version 2\.\*, share 0\.05\), best \(within 0\) +0\.4 load \+ 0\.6 relevance/,
    );
    expect(out).toMatch(/file problem +default: must be a section of keys \(line 1\)/);
  });

  it(
    'checks a file without a service, and tells each flaw with its line',
    async () => {
      const sound = await runCli(['strategies', 'check', fileWith('default: {queueLoad: 0.7}\n', 'sound.yaml')]);
      expect([sound.code, sound.err]).toEqual([0, '']);
      const flawed = fileWith('default:\n  strategies: [afinity]\n  weights: {load: 0.5}\n', 'flawed.yaml');
      const { code, err } = await runCli(['strategies', 'check', flawed]);
      expect(code).toBe(2);
      expect(err).toContain('AR_ERR_INVALID_STRATEGIES');
      expect(err).toContain(
        'default.strategies[0]: "afinity" is not a known strategy; did you mean "affinity"? (line 2)',
      );
      expect(err).toContain('default.weights: must sum to 1, but sum to 0.5 (line 3)');
    },
    SLOW_MS,
  );

  it(
    'sets a file only where it is sound, and only over the version that is named',
    async () => {
      const sent = service.seen.length;
      const bad = await run(['set', '-'], 'default: {queueLoad: 7}\n');
      expect([bad.code, service.seen.length]).toEqual([2, sent]);
      const { out } = await run(['set', '-', '--if-version', '3f9a1c0b7d24'], 'default: {queueLoad: 0.7}\n');
      expect(out).toContain('strategies version 3f9a1c0b7d24 is in force (api)');
      expect(service.seen.at(-1)).toMatchObject({
        headers: { 'if-match': '"3f9a1c0b7d24"' },
        body: { default: { queueLoad: 0.7 } },
      });
    },
    SLOW_MS,
  );

  it('reloads, and tells that the file is shadowed', async () => {
    const { out, code } = await run(['reload']);
    expect([code, out]).toEqual([0, expect.stringContaining('/etc/s.yaml: read, but what was set over the API')]);
    expect(JSON.parse((await run(['clear', '--json'])).out)).toMatchObject({ strategiesVersion: '3f9a1c0b7d24' });
  });
});

async function lineWith(lines: Interface, wanted: RegExp): Promise<string> {
  for await (const line of lines) if (wanted.test(line)) return line;
  throw new Error(`no line was like ${wanted}`);
}

describe('SIGHUP', () => {
  it(
    'reads the strategies file of a served process again; a bad one is refused and the old one stays',
    async () => {
      const file = fileWith('default: {queueLoad: 0.5}\n');
      const data = ['--data-dir', join(folder, 'data')];
      const args = ['serve', '--port', '0', ...data, '--log-level', 'silent', '--strategies', file];
      const child = spawn(process.execPath, cliArguments(args), {
        env: cleanEnvironment(),
        stdio: ['ignore', 'pipe', 'pipe'],
        // A process group of its own.
        detached: true,
      });
      running.add(child);
      const url = /http\S+/.exec(await lineWith(createInterface({ input: child.stdout }), /ready at/))?.[0] ?? '';
      const notes = createInterface({ input: child.stderr });
      const show = async (): Promise<StrategiesReply> => (await fetch(`${url}/v1/strategies`)).json() as never;
      const first = await show();
      expect(first.effective.default.queueLoad).toBe(0.5);

      fileWith('default: {queueLoad: 7}\n');
      process.kill(-(child.pid ?? 0), 'SIGHUP');
      expect(await lineWith(notes, /SIGHUP/)).toContain('default.queueLoad: must be at most 1 (line 1)');
      expect((await show()).strategiesVersion).toBe(first.strategiesVersion);

      fileWith('default: {queueLoad: 0.7}\n');
      process.kill(-(child.pid ?? 0), 'SIGHUP');
      // The watch of the file may have been sooner.
      expect(await lineWith(createInterface({ input: child.stderr }), /SIGHUP/)).toMatch(/applied|unchanged/);
      expect((await show()).effective.default.queueLoad).toBe(0.7);
      // The signal reached the process of the model too, as from `kill -HUP -GROUP`.
      expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ ready: true, degraded: false });
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      expect(await exited).toBe(0);
    },
    SLOW_MS,
  );
});
