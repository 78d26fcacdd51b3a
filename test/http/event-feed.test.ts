import { expect, test } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { EventLog, type RegistryEvent } from '../../src/events/index.ts';
import { eventFeed } from '../../src/http/event-feed.ts';
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

/** A feed of which only every `every`-th epoch is wanted, and a reader of its frames. */
function feedOf(every: number) {
  const clock = new ManualClock();
  const log = new EventLog({ id: 'test' });
  const reader = log.read();
  const ready = { id: reader.lastId, epoch: 0 };
  const stream = eventFeed({ clock, log, reader, ready, isWanted: ({ epoch }) => epoch % every === 0 });
  const frames = stream.getReader();
  const next = async () => new TextDecoder().decode((await frames.read()).value);
  return { clock, log, next };
}

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

test('tells in every silence how far it has read, also to a reader of whom nothing is wanted', async () => {
  const { clock, log, next } = feedOf(5);
  expect(await next()).toContain('event: ready');
  const quiet = next();
  for (let epoch = 1; epoch <= 3; epoch++) {
    log.append(change(epoch));
    clock.advance(4_900);
    await new Promise(setImmediate);
  }
  clock.advance(300);
  expect(await quiet).toBe(': quiet\nid: test-3-0\n\n');
  const wanted = next();
  for (let epoch = 4; epoch <= 5; epoch++) log.append(change(epoch));
  expect(await wanted).toContain('id: test-5-0\nevent: agent.updated');
  const silence = next();
  clock.advance(14_999);
  await new Promise(setImmediate);
  expect(clock.pendingTimers).toBe(1);
  clock.advance(1);
  expect(await silence).toBe(': quiet\nid: test-5-0\n\n');
});

test('tells its place before the log forgets it, however fast the events that are not wanted come', async () => {
  const { log, next } = feedOf(10_000);
  await next();
  for (let epoch = 1; epoch <= 2_000; epoch++) log.append(change(epoch));
  expect(await next()).toBe(': quiet\nid: test-1024-0\n\n');
});
