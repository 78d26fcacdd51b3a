import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, call, registration } from './client.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const WEATHER = 'weather.query.city';
/** Says nothing of weather in its words. */
const INTENT = 'do I need my zorblax gear';

let dataDir: string;
let service: ServiceProcess;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-feedback-'));
});
afterEach(async () => {
  await service.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('feedback in a service of its own', () => {
  it('changes no answer until it is approved, then at once, and both survive kill -9', async () => {
    service = await startServiceProcess(dataDir);
    const weather = registration('weather-1', [{ name: WEATHER, description: '查询一个城市的天气预报' }]);
    await call(service.url, 'POST', '/v1/agents', weather);
    const routed = await ask(service.url, INTENT);
    expect(routed.body).toMatchObject({ decision: 'no_match' });
    const { requestId } = routed.body;
    const filed = await call(service.url, 'POST', '/v1/feedback', { requestId, correct: WEATHER });
    expect(filed).toMatchObject({ status: 201, body: { id: 'fb_1', intent: INTENT, status: 'pending' } });
    await service.kill();

    service = await startServiceProcess(dataDir);
    expect((await ask(service.url, INTENT)).body).toMatchObject({ decision: 'no_match' });
    expect((await call(service.url, 'GET', '/v1/feedback?status=pending')).body.items).toMatchObject([{ id: 'fb_1' }]);
    const approved = await call(service.url, 'POST', '/v1/feedback/fb_1/approve');
    expect(approved).toMatchObject({ status: 200, body: { status: 'approved', effect: 'example_added' } });
    expect((await ask(service.url, INTENT)).body).toMatchObject({ decision: 'route', capability: WEATHER });
    await service.kill();

    service = await startServiceProcess(dataDir);
    expect((await ask(service.url, INTENT)).body).toMatchObject({ decision: 'route', capability: WEATHER });
    const entry = await call(service.url, 'GET', `/v1/capabilities/${WEATHER}`);
    expect(entry.body).toMatchObject({ operatorExamples: [INTENT], examples: [INTENT], revision: 1 });
    expect((await call(service.url, 'GET', '/v1/feedback')).body.items).toMatchObject([{ status: 'approved' }]);
    await call(service.url, 'PATCH', `/v1/capabilities/${WEATHER}`, { examples: [] });
    expect((await ask(service.url, INTENT)).body).toMatchObject({ decision: 'no_match' });
  }, 90_000);
});
