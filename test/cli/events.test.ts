import { expect, onTestFinished, test } from 'vitest';
import { eventStream, problem, startStandIn } from '../sdk/stand-in-service.ts';
import { runCli } from './run-cli.ts';

test('waits and connects again after the stream ended, until what follows is gone', async () => {
  const ready = 'id: x-1-0\nevent: ready\ndata: {"id":"x-1-0","epoch":1}\n\n';
  const change = 'id: x-2-0\nevent: agent.withdrawn\ndata: {"id":"x-2-0","type":"agent.withdrawn","agentId":"one"}\n\n';
  const left = [ready, ready + change];
  const service = await startStandIn({
    'GET /v1/events': () => {
      const stream = left.shift();
      return stream === undefined ? problem('AR_ERR_EVENTS_GONE', 410, 'not kept') : eventStream([stream]);
    },
  });
  onTestFinished(() => service.stop());
  const { code, out, err } = await runCli(['events', '--json', '--url', service.url]);
  expect(JSON.parse(out.split('\n')[0] ?? '')).toMatchObject({ id: 'x-2-0', agentId: 'one' });
  expect(err).toContain('following from x-1-0');
  expect(code).toBe(1);
});
