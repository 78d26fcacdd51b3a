import { describe, expect, test } from 'vitest';
import type { Transport } from '../../src/contract/index.ts';
import { assertEndpoints } from '../../src/registry/endpoint-policy.ts';

const refusal = (path: string) =>
  expect.objectContaining({ code: 'AR_ERR_INVALID_ENDPOINT', issues: [expect.objectContaining({ path })] });

describe('takes', () => {
  test.each<Transport>([
    { type: 'http', endpoint: 'http://127.0.0.1:9001' },
    { type: 'http', endpoint: 'https://agents.example/天气?x=1', healthEndpoint: 'http://[::1]:80/health' },
    { type: 'http', endpoint: 'HTTP://EXAMPLE' },
    { type: 'http', endpoint: 'http://天气.中国:80/' },
    { type: 'http', endpoint: 'http://xn--fiq228c.xn--fiqs8s', healthEndpoint: 'http://[0:0:0:0:0:0:0:1]/' },
    { type: 'http', endpoint: 'http://example/path/@me' },
    { type: 'websocket', endpoint: 'wss://example/socket' },
    { type: 'websocket' },
    { type: 'queue', endpoint: 'weather-tasks:1' },
    { type: 'local' },
  ])('%j', (transport) => {
    expect(() => assertEndpoints(transport)).not.toThrow();
  });
});

describe('refuses', () => {
  test.each([
    'ftp://example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http:example',
    'http:/example',
    'http://',
    'http:///path',
    'http://?query',
    'http://user:secret@example',
    'http://user@example',
    'http://@example',
    'http://example/#part',
    'http://example/#',
    'http://exa mple',
    'http://example\n.evil',
    'http:\\\\example',
    'http://example:99999',
    'http://[::1',
    'http://exam\u200bple.com',
    'http://exam\u00adple.com',
    'http://example。com',
    'http://ｅxample.com',
    'http://%65xample.com',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://127.1/',
    'ws://example',
    '//example',
    'example:9001',
    ' http://example',
  ])('%j for http, on its path and without repeating it', (endpoint) => {
    const http = { type: 'http', endpoint } as const;
    expect(() => assertEndpoints(http)).toThrow(refusal('transport.endpoint'));
    expect(() => assertEndpoints(http)).toThrow(/^(?!.*secret)/s);
    const health = { type: 'http', endpoint: 'http://example', healthEndpoint: endpoint } as const;
    expect(() => assertEndpoints(health)).toThrow(refusal('transport.healthEndpoint'));
  });

  test('http without an endpoint, websocket over http, labels that hold credentials or spaces', () => {
    for (const transport of [
      { type: 'http' },
      { type: 'websocket', endpoint: 'http://example' },
      { type: 'queue', endpoint: 'redis://user:secret@host/tasks' },
      { type: 'local', endpoint: 'two words' },
    ] satisfies Transport[]) {
      expect(() => assertEndpoints(transport)).toThrow(refusal('transport.endpoint'));
    }
  });

  test('both at once with both paths', () => {
    const transport: Transport = { type: 'http', endpoint: 'x', healthEndpoint: 'y' };
    expect(() => assertEndpoints(transport)).toThrow(
      expect.objectContaining({
        issues: [
          expect.objectContaining({ path: 'transport.endpoint' }),
          expect.objectContaining({ path: 'transport.healthEndpoint' }),
        ],
      }),
    );
  });
});
