import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, call, registration } from './client.ts';
import { startServiceProcess } from './service-process.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-stop-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** 256 capabilities with 32 examples each: half a minute of embedding. */
function hugeRegistration() {
  const capabilities = Array.from({ length: 256 }, (_, i) => ({
    name: `bulk.run.task_${i}`,
    examples: Array.from({ length: 32 }, (__, k) => `please run the task number ${i} in its variant number ${k}`),
  }));
  return registration('huge', capabilities);
}

describe('SIGTERM', () => {
  it('ends a service with 0 while a huge registration waits for the model, which gets its code', async () => {
    const service = await startServiceProcess(dataDir, { AGENT_REACH_HTTP_STOP_TIMEOUT_MS: '1000' });
    const huge: Promise<Answer> = call(service.url, 'POST', '/v1/agents', hugeRegistration());
    const small = await call(service.url, 'POST', '/v1/agents', registration('small', ['weather.query.city']));
    expect(small.status).toBe(201);
    service.child.kill('SIGTERM');
    expect(await huge).toMatchObject({ status: 503, body: { code: 'AR_ERR_STOPPING', retryable: true } });
    expect(await service.exited).toBe(0);

    const next = await startServiceProcess(dataDir);
    const { body } = await call(next.url, 'GET', '/v1/agents');
    expect(body.items.map((agent: { agentId: string }) => agent.agentId)).toEqual(['small']);
    await next.kill();
  });
});
