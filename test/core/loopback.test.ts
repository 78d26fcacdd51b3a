import { expect, it } from 'vitest';
import { isLoopbackHost } from '../../src/core/index.ts';

it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '::1', '[::1]', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
  'takes %s for this machine alone',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

it.each([
  '',
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '128.0.0.1',
  '127.0.0.999',
  '127.evil.example',
  '::ffff:10.0.0.1',
  'my-host',
])('takes "%s" for an address that others may reach', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});
