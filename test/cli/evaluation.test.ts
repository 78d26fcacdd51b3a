import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluationPage } from '../../src/cli/evaluation-page.ts';
import { evaluationReportSchema, feedbackSchema, type RouteReply } from '../../src/contract/index.ts';
import { json, type StandIn, startStandIn } from '../sdk/stand-in-service.ts';
import { capability, explained, routeReplyOf } from './replies.ts';
import { runCli } from './run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'reach-eval-'));
const DATA = join(folder, 'data.jsonl');
const BAD = join(folder, 'bad.jsonl');
const REGISTRY = join(folder, 'agents.yaml');
let service: StandIn;

const FEEDBACK = feedbackSchema.parse({
  id: 'fb_1',
  status: 'approved',
  namespace: 'default',
  intent: 'evil\u001b[2J',
  correct: 'weather.query.city',
  answered: null,
  requestId: null,
  reports: 2,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'web',
  decidedAt: '2026-01-01T00:00:00.000Z',
  decidedBy: 'ops',
  effect: 'example_added',
});

beforeAll(async () => {
  writeFileSync(DATA, '{"text":"<b>雨</b>","capability":"weather.query.city"}\n{"text":"rain","capability":"a.b.c"}\n');
  writeFileSync(BAD, '{"text":"rain","capability":null}\n{"text":3}\n');
  writeFileSync(
    REGISTRY,
    `agents:
  - { agentId: w, capabilities: [{ name: weather.query.city, description: 查询城市天气, examples: [明天会下雨吗] }], transport: { type: websocket } }
  - { agentId: m, capabilities: [{ name: mail.send.message, description: Send an email, examples: [mail my boss] }], transport: { type: websocket } }
`,
  );
  const reply = (request: unknown): RouteReply => {
    const isExplained = typeof request === 'object' && request !== null && 'explain' in request && request.explain;
    return isExplained === true ? explained : routeReplyOf();
  };
  service = await startStandIn({
    'GET /v1/capabilities': () => json({ items: [capability], nextCursor: null }),
    'GET /v1/rules': () => json({ rulesVersion: 0, items: [] }),
    'POST /v1/route': ({ body }) => json(reply(body)),
    'POST /v1/route/batch': ({ body }) => {
      const { requests } = body as { requests: unknown[] };
      return json({ requestId: 'r', results: requests.map(reply) });
    },
    'GET /v1/feedback': () => json({ items: [FEEDBACK], nextCursor: null, pending: 0 }),
    'POST /v1/feedback': () => json({ ...FEEDBACK, status: 'pending' }, 201),
    'POST /v1/feedback/fb_1/approve': () => json(FEEDBACK),
    'POST /v1/feedback/fb_1/reject': () => json({ ...FEEDBACK, status: 'rejected', effect: 'none' }),
  });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => runCli(['--url', service.url, ...args]);

describe('agent-reach eval', () => {
  it('asks the running service and writes one JSON value', async () => {
    const { code, out, err } = await run('eval', '--data', DATA, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { gates, ...report } = JSON.parse(out) as Record<string, unknown>;
    expect(gates).toEqual([]);
    expect(evaluationReportSchema.parse(report).scores).toMatchObject({ lines: 2, hitAt1: 0.5, answeredRight: 0.5 });
  });

  it.each([['eval', '--data', DATA], ['lint']])('asks only to measure: %s', async (...args) => {
    service.seen.length = 0;
    expect((await run(...args)).code).toBe(0);
    const bodies = service.seen.flatMap(({ target, body }) => (target.startsWith('/v1/route') ? [body] : []));
    const asked = (bodies as { requests?: object[] }[]).flatMap((body) => body.requests ?? [body]);
    expect(asked.length).toBeGreaterThan(0);
    for (const one of asked) expect(one).toMatchObject({ probe: true });
  });

  it.each([
    [['--min-hit1', '0.5'], 0, 'met'],
    [['--min-hit1', '0.51'], 1, 'MISSED'],
    [['--min-auroc', '0.1'], 1, 'MISSED'],
    [['--max-calibration-error', '1'], 0, 'met'],
  ])('ends as a gate: %j', async (flags, code, word) => {
    const result = await run('eval', '--data', DATA, ...flags);
    expect(result.code).toBe(code);
    expect(result.out).toContain(word);
  });

  it('refuses a wrong line by its number, and asks nothing', async () => {
    const before = service.seen.length;
    const { code, out, err } = await run('eval', '--data', BAD);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('line 2');
    expect(service.seen.length).toBe(before);
  });

  it('evaluates a file with the real model, without a service, and writes a page', async () => {
    const html = join(folder, 'report.html');
    const result = await runCli(
      ['--url', 'http://127.0.0.1:9', 'eval', '--data', DATA, '--registry', REGISTRY, '--html', html],
      {},
    );
    expect({ code: result.code, err: result.err }).toEqual({ code: 0, err: '' });
    const page = readFileSync(html, 'utf8');
    expect(page).not.toMatch(/<script|<link|https?:|@import|url\(/);
    expect(page).not.toContain('<b>雨');
  }, 60_000);
});

describe('the page of a report', () => {
  it('escapes hostile texts wherever they stand', () => {
    const hostile = '"><img src=x onerror=alert(1)>\u202e\'&';
    const nothing = { lines: 1, inScope: 1, outOfScope: 0, hitAt1: 0, hitAt5: 0, mrr: 0, answeredRight: 0 };
    const scores = { ...nothing, noMatchPrecision: null, noMatchRecall: null, auroc: null, calibrationError: null };
    const page = evaluationPage(
      evaluationReportSchema.parse({
        source: { kind: 'service', place: hostile, capabilities: 1, indexVersion: hostile, degraded: true },
        scores,
        languages: [{ language: hostile, ...scores }],
        reliability: [{ from: 0, to: 1, lines: 1, meanRelevance: 0.5, shareRight: 1 }],
        relevance: { inScope: [1], outOfScope: [0] },
        capabilities: [{ capability: hostile, lines: 1, hitAt1: 0, hitAt5: 0, answeredRight: 0, taken: 0 }],
        confusions: [
          { expected: hostile, answered: hostile, lines: 1, text: hostile, relevance: 1, nearestPhrase: hostile },
        ],
        nearDuplicates: [
          { namespace: hostile, capability: hostile, other: hostile, similarity: 1, text: hostile, otherText: hostile },
        ],
        unreachable: [{ capability: hostile, namespace: hostile, foundInstead: hostile }],
        unknownCapabilities: [{ capability: hostile, lines: 1, suggestions: [hostile] }],
        latencyMs: null,
      }),
      [],
    );
    expect(page).not.toMatch(/<img|\u202e/);
    expect(page.split('&quot;&gt;&lt;img').length - 1).toBe(16);
  });
});

describe('agent-reach lint', () => {
  it('looks at the running service; warnings fail only when strict', async () => {
    const { code, out } = await run('lint', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([]);
  });

  it('looks at a file with the real model', async () => {
    const file = join(folder, 'twice.yaml');
    writeFileSync(file, readFileSync(REGISTRY, 'utf8').replace('Send an email', '查询某城市的天气'));
    const { code, out } = await run('lint', '--registry', file, '--strict');
    expect(out).toMatch(/near_duplicate_text/);
    expect(out).toContain('0 errors');
    expect(code).toBe(1);
  }, 60_000);
});

describe('agent-reach feedback', () => {
  it('lists with texts made safe for a terminal', async () => {
    const { code, out } = await run('feedback', 'list', '--status', 'approved');
    expect(code).toBe(0);
    expect(out).toContain('fb_1');
    expect(out).not.toContain('\u001b');
  });

  it('reports, approves and rejects', async () => {
    await run('feedback', 'report', 'rain?', 'none');
    expect(service.seen.at(-1)).toMatchObject({ body: { intent: 'rain?', correct: null } });
    expect((await run('feedback', 'approve', 'fb_1')).out).toContain('is now an example of weather.query.city');
    expect((await run('feedback', 'reject', 'fb_1')).out).toContain('fb_1 rejected');
    const half = await run('feedback', 'approve', 'fb_1', 'fb_2');
    expect(half.code).toBe(1);
    expect(half.out).toContain('fb_1 approved');
  });
});
