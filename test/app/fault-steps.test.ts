import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { compileConfig, type RunningService, startService } from '../../src/app/index.ts';
import type { StepName } from '../../src/core/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { ask, call, registration } from './client.ts';

const SCRIPT = fileURLToPath(new URL('./fault-child.ts', import.meta.url));
const WEATHER = { name: 'weather.query.city', description: 'weather forecast for a city' };
const MAIL = { name: 'mail.send.message', description: 'send an email to somebody' };

const REBUILD_STEPS: StepName[] = [
  'rebuild.build_started',
  'rebuild.graph_built',
  'rebuild.files_written',
  'rebuild.sidecar_written',
  'rebuild.loaded',
  'rebuild.checked',
  'rebuild.renamed',
  'rebuild.swapped',
];
const REGISTER_STEPS: StepName[] = [
  'register.admitted',
  'rebuild.texts_embedded',
  'rebuild.vectors_stored',
  'register.prepared',
  'register.committed',
  'register.applied',
];

let dir: string;
let service: RunningService | undefined;
let children: ChildProcess[] = [];

/** One data folder for all: what one crash leaves, the next one starts from. */
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'agent-reach-faults-'));
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  for (const child of children) child.kill('SIGKILL');
  children = [];
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function startChild(step: StepName): Promise<{ url: string; arm(): Promise<void>; died: Promise<unknown> }> {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, dir, step], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.push(child);
  const died = once(child, 'exit').then(([, signal]) => signal as unknown);
  const [url] = await once(child, 'message');
  return {
    url: String(url),
    died,
    async arm() {
      child.send('arm');
      await once(child, 'message');
    },
  };
}

async function restart(): Promise<string> {
  const embedder = new HashEmbedder();
  const index = { rebuildDebounceMs: 600_000, rebuildMaxWaitMs: 600_000 };
  const config = compileConfig({ http: { port: 0 }, data: { dir }, log: { level: 'silent' }, index });
  service = await startService(config, { embedder });
  return service.url;
}

async function expectWhole(url: string): Promise<void> {
  const { body: versions } = await call(url, 'GET', '/v1/index/versions');
  expect(versions.refused).toEqual([]);
  if (versions.current !== 'v000000') {
    expect((await call(url, 'POST', '/v1/index/verify')).body).toMatchObject({ ok: true, problems: [] });
  }
  expect((await call(url, 'POST', '/v1/index/rebuild')).status).toBe(200);
}

describe('kill -9 right after a step', () => {
  it.each(REBUILD_STEPS)('of a rebuild: %s', async (step) => {
    const child = await startChild(step);
    for (const [id, capability] of [['weather-1', WEATHER] as const, ['mail-1', MAIL] as const]) {
      await call(child.url, 'POST', '/v1/agents', registration(id, [capability]));
    }
    await child.arm();
    await call(child.url, 'POST', '/v1/index/rebuild').catch(() => undefined);
    expect(await child.died).toBe('SIGKILL');

    const url = await restart();
    expect((await ask(url, 'weather forecast for a city')).body).toMatchObject({ agent: { agentId: 'weather-1' } });
    expect((await ask(url, 'send an email to somebody')).body).toMatchObject({ agent: { agentId: 'mail-1' } });
    await expectWhole(url);
  });

  it.each(REGISTER_STEPS)('of a registration: %s', async (step) => {
    const child = await startChild(step);
    await call(child.url, 'POST', '/v1/agents', registration('weather-1', [WEATHER]));
    await child.arm();
    const name = `song.play.${step.replace('.', '_')}`;
    const text = `play the song of ${step}`;
    await call(child.url, 'POST', '/v1/agents', registration(step, [{ name, description: text }])).catch(
      () => undefined,
    );
    expect(await child.died).toBe('SIGKILL');

    const url = await restart();
    const isStored = ['register.committed', 'register.applied'].includes(step);
    expect((await call(url, 'GET', `/v1/agents/${step}`)).status).toBe(isStored ? 200 : 404);
    const { body } = await ask(url, text);
    expect(body.agent?.agentId === step).toBe(isStored);
    expect((await ask(url, 'weather forecast for a city')).body).toMatchObject({ agent: { agentId: 'weather-1' } });
    await expectWhole(url);
  });
});
