import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StepName } from '../../src/core/index.ts';
import { ask, call, registration } from './client.ts';
import { type HashService, startHashService } from './hash-service.ts';

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

/** Rebuilds run on command only: what a step belongs to is then known. */
const INDEX = { rebuildDebounceMs: 0, rebuildMaxWaitMs: 0 };

let dir: string;
let service: HashService | undefined;

/** One data folder for all: what one crash leaves, the next one starts from. */
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'agent-reach-faults-'));
});
afterAll(async () => {
  service?.child.kill('SIGKILL');
  await service?.died;
  rmSync(dir, { recursive: true, force: true });
});

/** The one of the test before, which it started after its crash, else a new one. */
async function started(): Promise<HashService> {
  if (service === undefined || service.child.exitCode !== null || service.child.signalCode !== null) {
    service = await startHashService({ data: { dir }, index: INDEX });
  }
  return service;
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
    const child = await started();
    for (const [id, capability] of [['weather-1', WEATHER] as const, ['mail-1', MAIL] as const]) {
      await call(child.url, 'POST', '/v1/agents', registration(id, [capability]));
    }
    await child.arm(step);
    await call(child.url, 'POST', '/v1/index/rebuild').catch(() => undefined);
    expect(await child.died).toBe('SIGKILL');

    const { url } = await started();
    expect((await ask(url, 'weather forecast for a city')).body).toMatchObject({ agent: { agentId: 'weather-1' } });
    expect((await ask(url, 'send an email to somebody')).body).toMatchObject({ agent: { agentId: 'mail-1' } });
    await expectWhole(url);
  });

  it.each(REGISTER_STEPS)('of a registration: %s', async (step) => {
    const child = await started();
    await call(child.url, 'POST', '/v1/agents', registration('weather-1', [WEATHER]));
    await child.arm(step);
    const name = `song.play.${step.replace('.', '_')}`;
    const text = `play the song of ${step}`;
    await call(child.url, 'POST', '/v1/agents', registration(step, [{ name, description: text }])).catch(
      () => undefined,
    );
    expect(await child.died).toBe('SIGKILL');

    const { url } = await started();
    const isStored = ['register.committed', 'register.applied'].includes(step);
    expect((await call(url, 'GET', `/v1/agents/${step}`)).status).toBe(isStored ? 200 : 404);
    const { body } = await ask(url, text);
    expect(body.agent?.agentId === step).toBe(isStored);
    expect((await ask(url, 'weather forecast for a city')).body).toMatchObject({ agent: { agentId: 'weather-1' } });
    await expectWhole(url);
  });
});
