/** The change feed and the blocking query over real HTTP, of a service that has its store to itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { FeedEvent } from '../../src/contract/index.ts';
import { ReachClient } from '../../src/sdk/index.ts';
import { call, registration } from './client.ts';
import { type InMemoryService, startInMemoryService } from './in-memory-service.ts';

describe('the change feed', () => {
  let running: InMemoryService;
  let client: ReachClient;
  const stop = new AbortController();
  beforeEach(async () => {
    running = await startInMemoryService();
    client = new ReachClient({ baseUrl: running.url });
  });
  afterEach(() => running.stop());

  function follow(options: { readonly since?: string; readonly namespace?: string } = {}) {
    const seen: FeedEvent[] = [];
    let ready: string | undefined;
    const ending = client.events.follow((event) => seen.push(event), {
      ...options,
      signal: stop.signal,
      onReady: ({ id }) => {
        ready = id;
      },
    });
    return { seen, ending, opened: () => expect.poll(() => ready).toBeDefined() };
  }

  test('tells each change once, in order, with what a later reader may go on from', async () => {
    const first = follow();
    await first.opened();
    const { body: lease } = await call(running.url, 'POST', '/v1/agents', registration('one', ['sky.watch.star']));
    await call(running.url, 'POST', '/v1/agents', registration('two', ['sky.watch.star'], { namespace: 'other' }));
    await call(running.url, 'PUT', '/v1/agents/one/heartbeat', { leaseId: lease.leaseId, status: 'busy' });
    await call(running.url, 'DELETE', '/v1/agents/two');
    await expect.poll(() => first.seen.length).toBe(4);
    expect(first.seen.map(({ type, agentId, from, to }) => [type, agentId, from, to])).toEqual([
      ['agent.registered', 'one', undefined, undefined],
      ['agent.registered', 'two', undefined, undefined],
      ['agent.state_changed', 'one', 'online', 'busy'],
      ['agent.withdrawn', 'two', undefined, undefined],
    ]);
    const again = follow({ since: first.seen[1]?.id ?? '' });
    const ofOther = follow({ since: first.seen[0]?.id ?? '', namespace: 'other' });
    await expect.poll(() => again.seen.map(({ id }) => id)).toEqual(first.seen.slice(2).map(({ id }) => id));
    await expect.poll(() => ofOther.seen.map(({ type }) => type)).toEqual(['agent.registered', 'agent.withdrawn']);
  });

  test('is told by the command line, one event a line', async () => {
    const child = spawn(process.execPath, ['dist/cli/main.js', 'events', '--json', '--url', running.url], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let notes = '';
    child.stderr.on('data', (chunk: Buffer) => {
      notes += chunk.toString();
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await expect.poll(() => notes, { timeout: 9_000 }).toContain('following from');
    await call(running.url, 'POST', '/v1/agents', registration('one', ['sky.watch.star']));
    const line = await lines.next();
    expect(JSON.parse(String(line.value))).toMatchObject({ type: 'agent.registered', agentId: 'one' });
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  });

  test('refuses what it cannot go on from, and says how to begin anew', async () => {
    const refused = await call(running.url, 'GET', '/v1/events?since=another-1-0');
    expect(refused).toMatchObject({ status: 410, body: { code: 'AR_ERR_EVENTS_GONE' } });
    expect(refused.body.detail).toContain('GET /v1/agents');
    expect((await call(running.url, 'GET', '/v1/events?types=agent.born')).status).toBe(400);
  });

  test('ends when the service stops, without holding the stop up', async () => {
    const response = await fetch(`${running.url}/v1/events`);
    const ended = response.text();
    const before = performance.now();
    await running.service.stop();
    expect(await ended).toContain('event: ready');
    expect(performance.now() - before).toBeLessThan(3_000);
  });

  test('answers a blocking query at the change, at once where the epoch is another, and when the wait is over', async () => {
    const list = (query: string) => call(running.url, 'GET', `/v1/agents?${query}`);
    const { registryEpoch } = (await list('')).body;
    const waiting = list(`waitIndex=${registryEpoch}&waitMs=10000`);
    await call(running.url, 'POST', '/v1/agents', registration('one', ['sky.watch.star']));
    expect((await waiting).body.items).toHaveLength(1);
    const now = (await waiting).body.registryEpoch;
    expect((await list(`waitIndex=${now + 50}&waitMs=10000`)).body.registryEpoch).toBe(now);
    expect((await list(`waitIndex=${now}&waitMs=50`)).body.registryEpoch).toBe(now);
    expect((await list('waitIndex=-1')).status).toBe(400);
  });
});
