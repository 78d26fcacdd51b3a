import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FEEDBACK } from '../../src/http/examples.ts';
import { json, problem, type StandIn, startStandIn } from '../sdk/stand-in-service.ts';
import { ruleReply } from './replies.ts';
import { runCli } from './run-cli.ts';

let service: StandIn;
beforeAll(async () => {
  service = await startStandIn({
    'POST /v1/rules': ({ body }) =>
      (body as { id: string }).id === 'bad' ? problem('AR_ERR_INVALID_RULE', 400, 'no') : json(ruleReply, 201),
    'POST /v1/feedback/fb_1/approve': () => json(FEEDBACK),
    'DELETE /v1/rules/none': () => problem('AR_ERR_RULE_NOT_FOUND', 404, 'no rule none', { suggestions: ['invoice'] }),
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  service.seen.length = 0;
});

const run = (args: readonly string[], input = '') => runCli(args, { env: { AGENT_REACH_URL: service.url }, input });

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

describe('an answer of another service', () => {
  it.each([
    [['agents']],
    [['agents', 'show', 'a']],
    [['rules', 'list']],
    [['rules', 'history']],
    [['index', 'list']],
    [['capabilities']],
    [['audit']],
    [['feedback', 'list']],
    [['route', 'rain']],
  ])('is told in one line: %j', async (args) => {
    const odd = () => json({ hello: 'world' });
    const other = await startStandIn({
      'GET /v1/agents': odd,
      'GET /v1/agents/a': odd,
      'GET /v1/rules': odd,
      'GET /v1/rules/history': odd,
      'GET /v1/index/versions': odd,
      'GET /v1/capabilities': odd,
      'GET /v1/audit': odd,
      'GET /v1/feedback': odd,
      'POST /v1/route': odd,
    });
    const { code, err } = await runCli(args, { env: { AGENT_REACH_URL: other.url } });
    await other.stop();
    expect({ code, lines: err.trim().split('\n') }).toEqual({
      code: 3,
      lines: [expect.stringMatching(/^AR_ERR_FOREIGN_REPLY: .* no answer of an Agent-Reach service/)],
    });
  });
});

describe('a command of many calls that fails midway', () => {
  const rules = JSON.stringify([{ id: 'invoice' }, { id: 'bad' }, { id: 'invoice' }]);

  it.each([
    [['rules', 'put', '-'], 2, 'AR_ERR_INVALID_RULE', [{ rule: { id: 'invoice' }, rulesVersion: 4 }]],
    [['feedback', 'approve', 'fb_1', 'fb_2'], 1, 'AR_ERR_NOT_FOUND', [{ id: FEEDBACK.id }]],
    [['rules', 'put', 'none.json'], 2, 'AR_ERR_INVALID_REQUEST', undefined],
  ] as const)('tells in one JSON value what was done and what failed: %j', async (args, exit, code, done) => {
    const answer = await run([...args, '--json'], rules);
    expect([answer.code, answer.err]).toEqual([exit, '']);
    const body = JSON.parse(answer.out) as { done?: unknown };
    expect(body).toMatchObject({ error: { code } });
    if (done === undefined) expect(body.done).toBeUndefined();
    else expect(body.done).toMatchObject(done);
  });

  it('tells people the same', async () => {
    const { code, out, err } = await run(['rules', 'put', '-'], rules);
    expect([code, out.split('\n')[0]]).toEqual([2, 'put rule invoice, rules version 4']);
    expect(err).toContain('AR_ERR_INVALID_RULE: no');
    expect(service.seen).toHaveLength(2);
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
