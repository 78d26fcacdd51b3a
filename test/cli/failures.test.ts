import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { problem, type StandIn, startStandIn } from '../sdk/stand-in-service.ts';
import { runCli } from './run-cli.ts';

let service: StandIn;
beforeAll(async () => {
  service = await startStandIn({
    'DELETE /v1/rules/none': () => problem('AR_ERR_RULE_NOT_FOUND', 404, 'no rule none', { suggestions: ['invoice'] }),
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  service.seen.length = 0;
});

const run = (args: readonly string[]) => runCli(args, { env: { AGENT_REACH_URL: service.url } });

describe('--json of a failure', () => {
  const errorOf = (out: string): unknown => (JSON.parse(out) as { error: unknown }).error;

  it('is one JSON value on stdout, with the exit code as without it', async () => {
    const { code, out, err } = await run(['rules', 'delete', 'none', '--json']);
    expect([code, err]).toEqual([1, '']);
    expect(errorOf(out)).toEqual({
      code: 'AR_ERR_RULE_NOT_FOUND',
      status: 404,
      detail: 'no rule none',
      retryable: false,
      requestId: expect.any(String),
      issues: [],
      suggestions: ['invoice'],
    });
  });

  it.each([
    [['rules', 'show', 'invoice'], 2, /unknown command 'show'/],
    [['route', '--top-k', 'x', '1'], 2, /--top-k/],
    [['register', 'none.json'], 2, /no file/],
    [['config', '--port', '80x'], 2, /http\.port: must be a number/],
    [['agents', '--url', 'http://127.0.0.1:1'], 3, /127\.0\.0\.1:1/],
  ] as const)('tells that of %j too', async (args, exit, text) => {
    const { code, out, err } = await run([...args, '--json']);
    expect([code, err]).toEqual([exit, '']);
    expect(errorOf(out)).toMatchObject({ detail: expect.stringMatching(text) });
  });
});

describe('unknown commands', () => {
  it.each([
    [['rules', 'histry'], "unknown command 'histry'\n(Did you mean history?)"],
    [['rules', 'show', 'invoice'], "unknown command 'show'"],
    [['index', 'foo'], "unknown command 'foo'"],
    [['index', 'golden', 'ad'], "unknown command 'ad'\n(Did you mean add?)"],
    [['agents', 'foo', '--zone', 'z'], "unknown command 'foo'"],
    [['capabilities', 'list', 'foo'], "list takes no argument, but got 'foo'"],
    [['help', 'nope'], "unknown command 'nope'"],
    [['help', 'rules', 'imprt'], '(Did you mean import?)'],
    [['nope'], "unknown command 'nope'"],
  ] as const)('are refused: %j', async (args, text) => {
    const { code, out, err } = await run(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(text);
    expect(service.seen).toEqual([]);
  });

  it('help shows the program, a command, and one below it', async () => {
    expect((await run(['help'])).out).toContain('Usage: agent-reach ');
    expect(await run(['help', 'rules', 'import'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Usage: agent-reach rules import'),
    });
  });
});
