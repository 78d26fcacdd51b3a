/** Following the change feed over connections that end, break, fall silent and are refused. */
import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { AgentReachError, ManualClock } from '../../src/core/index.ts';
import { type FollowOptions, ReachClient } from '../../src/sdk/index.ts';
import { type Answer, eventStream, problem, startStandIn } from './stand-in-service.ts';

const READY = 'id: x-1-0\nevent: ready\ndata: {"id":"x-1-0","epoch":1}\n\n';
const change = (n: number) => `id: x-${n}-0\nevent: agent.updated\ndata: {"id":"x-${n}-0","epoch":${n}}\n\n`;
const quiet = (n: number) => `: quiet\nid: x-${n}-0\n\n`;

const ending =
  (...chunks: string[]): Answer =>
  () =>
    eventStream(chunks);

function hanging(): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(READY)),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

interface Following extends FollowOptions {
  readonly onEvent?: (epoch: number) => void;
}

/** One stream after the other is followed, then a refusal that no repeat cures; the clock moves at every pause. */
async function followed(streams: readonly Answer[], { onEvent, ...options }: Following = {}) {
  const clock = new ManualClock();
  const left = [...streams];
  const service = await startStandIn({
    'GET /v1/events': (request) => left.shift()?.(request) ?? problem('AR_ERR_EVENTS_GONE', 410, 'the end'),
  });
  onTestFinished(() => service.stop());
  const seen: number[] = [];
  const follow = new ReachClient({ baseUrl: service.url, clock }).events.follow(({ epoch }) => {
    onEvent?.(epoch);
    seen.push(epoch);
  }, options);
  let error: unknown;
  const over = follow.catch((reason: unknown) => {
    error = reason;
  });
  const outcome = async () => {
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    await expect
      .poll(
        () => {
          if (clock.pendingTimers > 0) clock.advance(100);
          return isOver;
        },
        { interval: 5 },
      )
      .toBe(true);
    return { error, seen, asked: service.seen.map(({ headers }) => headers['last-event-id']) };
  };
  return { clock, service, outcome };
}

test('goes on after the last event, or the last place that a silence told', async () => {
  const { outcome } = await followed([
    ending(READY, change(2), quiet(7)),
    ending(READY),
    ending(change(9), change(10)),
  ]);
  const { error, seen, asked } = await outcome();
  expect(error).toMatchObject({ code: 'AR_ERR_EVENTS_GONE' });
  expect(seen).toEqual([2, 9, 10]);
  expect(asked).toEqual([undefined, 'x-7-0', 'x-1-0', 'x-10-0']);
});

test.each([
  ['of its own', new Error('the disk is full')],
  ['that a repeat might cure', new AgentReachError('AR_ERR_UNREACHABLE')],
])(
  'ends with an error %s that the callback throws, and does not take it for a broken connection',
  async (_, thrown) => {
    const broken: unknown[] = [];
    const { outcome } = await followed([ending(READY, change(2), change(3))], {
      onEvent(epoch) {
        if (epoch === 3) throw thrown;
      },
      onBroken: (error) => broken.push(error),
    });
    const { error, seen, asked } = await outcome();
    expect(error).toBe(thrown);
    expect([seen, asked, broken]).toEqual([[2], [undefined], []]);
  },
);

test('breaks off a connection that says nothing for three times the silence of the service', async () => {
  let isReady = false;
  const broken: unknown[] = [];
  const { clock, outcome } = await followed([hanging], {
    onReady: () => {
      isReady = true;
    },
    onBroken: (error) => broken.push(error),
  });
  await expect.poll(() => isReady).toBe(true);
  clock.advance(44_999);
  await new Promise(setImmediate);
  expect(broken).toEqual([]);
  expect((await outcome()).asked).toEqual([undefined, 'x-1-0']);
  expect(broken).toMatchObject([{ code: 'AR_ERR_DEADLINE', message: expect.stringContaining('45000 ms') }]);
});

test('waits a fifth of a second first, then twice as long, and leaves nothing behind at the signal', async () => {
  const service = await startStandIn({});
  await service.stop();
  const clock = new ManualClock();
  const stop = new AbortController();
  let failures = 0;
  const over = new ReachClient({ baseUrl: service.url, clock }).events.follow(() => undefined, {
    signal: stop.signal,
    onBroken: () => {
      failures += 1;
    },
  });
  for (const [failure, waitMs] of [200, 400, 800].entries()) {
    await expect.poll(() => [failures, clock.pendingTimers]).toEqual([failure + 1, 1]);
    clock.advance(0.8 * waitMs - 1);
    expect(clock.pendingTimers).toBe(1);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    clock.advance(0.4 * waitMs + 2);
    await expect.poll(() => failures).toBe(failure + 2);
  }
  stop.abort();
  await over;
  expect([clock.pendingTimers, getEventListeners(stop.signal, 'abort')]).toEqual([0, []]);
});
