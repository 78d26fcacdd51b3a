import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { cleanEnvironment, cliArguments, runCli } from './run-cli.ts';

const root = mkdtempSync(join(tmpdir(), 'reach-serve-'));
const running = new Set<ChildProcess>();
let folders = 0;

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function freshFolder(): string {
  folders += 1;
  const folder = join(root, String(folders));
  mkdirSync(folder);
  return folder;
}

interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
}

/** Starts a real service on a free port and waits for its ready line. */
async function serve(cwd: string, args: readonly string[] = []): Promise<Served> {
  const child = spawn(process.execPath, cliArguments(['serve', '--port', '0', '--log-level', 'silent', ...args]), {
    env: cleanEnvironment(),
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /ready at (\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exit.then((code) => reject(new Error(`serve ended with ${code} before it was ready`)));
  });
  return { url, child, exit };
}

const weather = {
  agentId: 'weather-1',
  agentName: '杭州天气',
  capabilities: [{ name: 'weather.query.city', description: 'Weather forecast for a city' }],
  transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
};
const mail = {
  agentId: 'mail-1',
  capabilities: [{ name: 'mail.send.message', description: '发送电子邮件' }],
  transport: { type: 'http', endpoint: 'http://127.0.0.1:9002' },
};

describe('serve', () => {
  it('registers and routes in both languages, keeps agents over a restart, and stops with 0', async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, 'agents.json'), JSON.stringify({ agents: [weather, mail] }));
    const first = await serve(cwd);
    const run = (args: readonly string[]) => runCli([...args, '--url', first.url], { cwd });
    expect((await run(['register', 'agents.json'])).out).toContain('registered 2 of 2 (2 new), 0 failed');
    for (const [intent, agentId] of [
      ['明天杭州会下雨吗', 'weather-1'],
      ['send an email to my boss', 'mail-1'],
    ] as const) {
      const { code, out, err } = await run(['route', intent, '--json']);
      expect([code, err]).toEqual([0, '']);
      expect(JSON.parse(out)).toMatchObject({ decision: 'route', agent: { agentId }, degraded: false });
    }
    expect((await run(['route', '--capability', 'music.play.song'])).code).toBe(4);
    expect(await run(['index', 'rebuild'])).toMatchObject({ code: 0, err: '' });
    expect((await run(['agents', 'withdraw', 'mail-1'])).code).toBe(0);
    expect(await run(['agents', 'withdraw', 'mail-1'])).toMatchObject({ code: 1, out: '' });
    first.child.kill('SIGTERM');
    expect(await first.exit).toBe(0);

    const second = await serve(cwd);
    const { out } = await runCli(['agents', '--json', '--url', second.url]);
    expect(JSON.parse(out)).toMatchObject([{ agentId: 'weather-1', agentName: '杭州天气' }]);
    second.child.kill('SIGINT');
    expect(await second.exit).toBe(0);
  }, 120_000);

  it('refuses a port that is taken, and a store that another process owns', async () => {
    const cwd = freshFolder();
    const first = await serve(cwd);
    const port = new URL(first.url).port;
    const taken = await runCli(['serve', '--port', port], { cwd: freshFolder() });
    expect(taken.code).toBe(2);
    expect(taken.err).toContain('EADDRINUSE');
    const owned = await runCli(['serve', '--port', '0'], { cwd });
    expect(owned.code).toBe(1);
    expect(owned.err).toContain('AR_ERR_STORE_IN_USE');
    first.child.kill('SIGTERM');
    expect(await first.exit).toBe(0);
  }, 120_000);

  it('asks for the key that the config file holds', async () => {
    const cwd = freshFolder();
    const sha256 = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae';
    const config = { auth: { apiKeys: [{ id: 'ops', sha256, scopes: ['*'] }] } };
    writeFileSync(join(cwd, 'agent-reach.yaml'), JSON.stringify(config));
    const { url, child, exit } = await serve(cwd);
    const refused = await runCli(['agents', '--url', url]);
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.err).toContain('AR_ERR_UNAUTHENTICATED');
    expect((await runCli(['agents', '--url', url], { env: { AGENT_REACH_API_KEY: 'foo' } })).code).toBe(0);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  }, 120_000);

  it('writes one JSON value to stdout with --json, and its log lines to stderr', async () => {
    const args = ['serve', '--json', '--port', '0', '--log-level', 'info'];
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(process.execPath, cliArguments(args), {
      env: cleanEnvironment(),
      cwd: freshFolder(),
      stdio: [...stdio],
    });
    running.add(child);
    let out = '';
    let err = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      child.kill('SIGTERM');
    });
    expect(await exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ url: expect.stringMatching(/^http:/) });
    expect(err).toContain('the embedding model is loaded');
  }, 120_000);

  it('exits at once on a second signal', async () => {
    const { child, exit } = await serve(freshFolder());
    child.kill('SIGTERM');
    child.kill('SIGINT');
    // The first stop may win the race to the end.
    expect([0, 128 + 2, 128 + 15]).toContain(await exit);
  }, 120_000);
});
