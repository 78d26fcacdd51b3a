/** Servers that are too old, or not Redis at all, spoken to over real sockets. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { RedisStore } from '../../src/storage/index.ts';

/** Answers each command by its name, in the order in which they came. */
async function startServer(answers: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((socket) => {
    let waiting = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      waiting += bytes.toString();
      for (;;) {
        const [command, rest] = takeCommand(waiting);
        if (command === null) return;
        waiting = rest;
        socket.write(answers[command] ?? `-ERR unknown command '${command}'\r\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The name of the first whole command (an array of bulk strings), and what follows on it. */
function takeCommand(text: string): [command: string | null, rest: string] {
  const lines = text.split('\r\n');
  const size = 1 + 2 * Number(lines[0]?.slice(1));
  if (!(lines.length > size)) return [null, text];
  return [lines[2]?.toUpperCase() ?? '', lines.slice(size).join('\r\n')];
}

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
const info = (version: string) => bulk(`# Server\r\nredis_version:${version}\r\nloading:0\r\n`);

test.each([
  ['that knows no HELLO', { INFO: info('5.0.14') }, '5.0.14'],
  [
    'that takes HELLO all the same',
    { HELLO: '%1\r\n+proto\r\n:3\r\n', CLIENT: '+OK\r\n', INFO: info('5.0.14') },
    '5.0.14',
  ],
  ['that names no version', { HELLO: '%1\r\n+proto\r\n:3\r\n', CLIENT: '+OK\r\n', INFO: bulk('') }, 'unknown'],
])('refuses a Redis %s', async (_, answers, version) => {
  const url = await startServer(answers);
  const startedAt = performance.now();
  await expect(RedisStore.open({ url })).rejects.toMatchObject({
    code: 'AR_ERR_STORE_UNAVAILABLE',
    message: expect.stringContaining(`version ${version}, 6 or later is needed`),
  });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test('gives up in bounded time on a server that says nothing', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const startedAt = performance.now();
  await expect(RedisStore.open({ url })).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
  expect(performance.now() - startedAt).toBeLessThan(4_000);
});
