import { expect, test } from 'vitest';
import type { RegistryEvent } from '../../src/events/index.ts';
import { startTestService } from './test-service.ts';

const change = (epoch: number): RegistryEvent => ({
  type: 'agent.updated',
  at: 0,
  epoch,
  agentId: 'a',
  namespace: 'default',
  incarnation: 1,
  revision: epoch,
});

test('says at a resume that it goes on from there: a connection that breaks after ready loses nothing', async () => {
  const { services, send } = await startTestService();
  const { log } = services.events;
  for (let epoch = 1; epoch <= 3; epoch++) log.append(change(epoch));
  log.close();
  const stream = await send('GET', '/v1/events', { headers: { 'last-event-id': 'test-1-0' } });
  const [ready, ...changes] = stream.text.split('\n\n');
  expect(ready).toBe('id: test-1-0\nevent: ready\ndata: {"id":"test-1-0","epoch":0}');
  expect(changes.map((one) => one.split('\n')[0])).toEqual(['id: test-2-0', 'id: test-3-0', '']);
  expect((await send('GET', '/v1/events')).text).toContain('"id":"test-3-0"');
});
