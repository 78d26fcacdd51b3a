import { describe, expect, it } from 'vitest';
import { AGENT_STATES } from '../../src/cli/commands/agents.ts';
import { CAPABILITY_STATUSES } from '../../src/cli/commands/capabilities.ts';
import { STRATEGIES } from '../../src/cli/commands/route.ts';
import { EXIT, EXIT_MEANINGS, exitCodeOf } from '../../src/cli/exit-codes.ts';
import { agentStateSchema, dictionaryStatusSchema, strategySchema } from '../../src/contract/index.ts';
import { AgentReachError, ERRORS, type ErrorCode } from '../../src/core/index.ts';
import { runCli } from './run-cli.ts';

describe('exit codes', () => {
  it('gives each code one meaning', () => {
    expect(EXIT_MEANINGS.map(([code]) => code)).toEqual(Object.values(EXIT));
  });

  it.each(Object.keys(ERRORS) as ErrorCode[])('ends with 1, 2 or 3 for %s', (code) => {
    expect([EXIT.failed, EXIT.badInput, EXIT.unreachable]).toContain(exitCodeOf(new AgentReachError(code)));
  });

  it.each<[unknown, number]>([
    [new AgentReachError('AR_ERR_INVALID_CONFIG'), 2],
    [new AgentReachError('AR_ERR_BODY_TOO_LARGE'), 2],
    [new AgentReachError('AR_ERR_FORBIDDEN'), 1],
    [new AgentReachError('AR_ERR_STALE_LEASE'), 1],
    [new AgentReachError('AR_ERR_OVERLOADED'), 1],
    [new AgentReachError('AR_ERR_UNREACHABLE'), 3],
    [new AgentReachError('AR_ERR_DEADLINE'), 3],
    [new Error('x'), 1],
    ['thrown text', 1],
  ])('ends %s with %i', (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  it('prints the table with --help', async () => {
    const { code, out } = await runCli(['--help']);
    expect(code).toBe(0);
    for (const [exit, meaning] of EXIT_MEANINGS) expect(out).toContain(`  ${exit}  ${meaning}`);
  });

  it.each([
    [[], /Usage: agent-reach/],
    [['rout', 'x'], /Did you mean route/],
    [['route', 'x', '--explian'], /Did you mean --explain/],
    [['route'], /AR_ERR_INVALID_REQUEST: give either an intent or --capability/],
    [['route', 'x', '--capability', 'a.b.c'], /give either an intent or --capability/],
    [['route', 'x', '--top-k', '0'], /from 1 to 50/],
    [['route', 'x', '--top-k', '1e9'], /from 1 to 50/],
    [['route', 'x', '--min-relevance', 'NaN'], /from 0 to 1/],
    [['route', 'x', '--strategy', 'worst'], /best, capacity_first/],
    [['route', 'x', '--tag', 'nokey'], /key=value/],
    [['agents', '--state', 'dead'], /online/],
    [['agents', 'show'], /missing required argument/],
    [['agents', 'show', '..'], /AR_ERR_INVALID_REQUEST/],
    [['capabilities', 'deprecate', 'a.b.c'], /--use/],
    [['agents', '--url', 'localhost:1'], /AR_ERR_INVALID_CONFIG/],
    [['serve', '--port', '80x'], /AR_ERR_INVALID_CONFIG: http\.port.*"80x" \(from flag --port\)/],
    [['serve', '--config', 'none.yaml'], /AR_ERR_INVALID_CONFIG: no config file at none\.yaml/],
    [['config', '--host', '0.0.0.0'], /AR_ERR_INVALID_CONFIG: http\.host/],
  ])('ends %j with 2', async (args, text) => {
    const { code, out, err } = await runCli(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(text);
  });

  it.each([[['route', 'x']], [['agents']], [['rules']], [['index', 'rebuild']]])(
    'ends %j with 3 when nothing listens',
    async (args) => {
      // Port 1 needs a privileged service that no test machine runs.
      const { code, out, err } = await runCli([...args, '--url', 'http://127.0.0.1:1']);
      expect([code, out]).toEqual([3, '']);
      expect(err).toMatch(/^AR_ERR_UNREACHABLE: .*agent-reach serve/);
    },
  );
});

describe('choices', () => {
  it('offers what the contract knows', () => {
    expect(AGENT_STATES).toEqual(agentStateSchema.options);
    expect(CAPABILITY_STATUSES).toEqual(dictionaryStatusSchema.options);
    expect(STRATEGIES).toEqual(strategySchema.options);
  });
});
