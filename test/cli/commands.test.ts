import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventStream, json, problem, type StandIn, startStandIn } from '../sdk/stand-in-service.ts';
import {
  agentOf,
  agentPage,
  auditPage,
  capability,
  diffed,
  dryRun,
  explained,
  goldenLine,
  indexVersions,
  noMatch,
  queue,
  registered,
  routeReplyOf,
  ruleHistory,
  ruleImport,
  ruleLint,
  ruleList,
  ruleReply,
  severalIntents,
  verified,
} from './replies.ts';
import { cleanEnvironment, cliArguments, runCli } from './run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'reach-cli-'));
let service: StandIn;
let inFlight = 0;
let mostInFlight = 0;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const REBUILT = JSON.stringify({ version: 'v000002', report: indexVersions.items[0] });

beforeAll(async () => {
  service = await startStandIn({
    'POST /v1/route': ({ body }) => {
      const intent = isObject(body) ? body.intent : undefined;
      if (intent === 'nothing') return json(noMatch);
      if (isObject(body) && body.capability === 'weather.qury.city') {
        return json({ ...noMatch, reason: 'unknown_capability', alternatives: [] });
      }
      if (intent === 'busy') return json(queue);
      if (intent === 'both') return json(severalIntents);
      if (intent === '🙂') return problem('AR_ERR_INVALID_INTENT', 400, 'the intent holds no words');
      return json(isObject(body) && body.explain === true ? explained : routeReplyOf());
    },
    'GET /v1/agents': ({ target }) =>
      target.includes('zone=many')
        ? json(
            agentPage(
              Array.from({ length: 500 }, (_, at) => agentOf(`agent-${at}`)),
              target.includes('cursor') ? null : 'c',
            ),
          )
        : target.includes('zone=none')
          ? json(agentPage([]))
          : json(
              agentPage([agentOf('weather-1'), agentOf('mail-1', { agentName: 'Mail', state: 'busy', load: null })]),
            ),
    'GET /v1/agents/weather-1': () => json(agentOf('weather-1', { agentName: 'evil\u001b[2J\u202etxt' })),
    'DELETE /v1/agents/weather-1': () => new Response(null, { status: 204 }),
    'POST /v1/agents': async ({ body }) => {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      const agentId = isObject(body) ? String(body.agentId ?? body.agent_id) : '';
      const issues = [{ path: 'capabilities[0]', message: 'has 2 segments; 3 are needed' }];
      if (agentId === 'bad')
        return problem('AR_ERR_INVALID_CAPABILITY', 400, 'the name breaks the grammar', { issues });
      if (agentId === 'known') return json(registered(agentId, 2));
      const group = /^warned-(\d+)-/.exec(agentId)?.[1];
      if (group === undefined) return json(registered(agentId), 201);
      const warning = { code: 'near_duplicate_name', capability: `w.r.c${group}`, message: `as ${agentId}` };
      return json({ ...registered(agentId), warnings: [warning] }, 201);
    },
    'GET /v1/capabilities': () => json({ items: [capability], nextCursor: null }),
    'GET /v1/capabilities/weather.qury.city': () =>
      problem('AR_ERR_CAPABILITY_NOT_FOUND', 404, 'none', { suggestions: ['weather.query.city'] }),
    'GET /v1/capabilities/weather.query.city': () => json(capability),
    'PATCH /v1/capabilities/weather.query.city': ({ body }) => json({ ...capability, ...(isObject(body) ? body : {}) }),
    'GET /v1/rules': () => json(ruleList),
    'POST /v1/rules': () => json(ruleReply, 201),
    'DELETE /v1/rules/invoice': () => new Response(null, { status: 204 }),
    'DELETE /v1/rules/none': () => problem('AR_ERR_RULE_NOT_FOUND', 404, 'no rule none', { suggestions: ['invoice'] }),
    'GET /v1/rules/history': () => json(ruleHistory),
    'POST /v1/rules/dry-run': () => json(dryRun),
    'POST /v1/rules/import': () => json(ruleImport),
    'POST /v1/rules/rollback': () => json({ rulesVersion: 6, rules: 2 }),
    'GET /v1/audit': () => json(auditPage),
    'GET /v1/rules/lint': () => json(ruleLint),
    'GET /v1/rules/export': () => new Response('rules:\n  - id: "b"\n', { headers: { 'content-type': 'text/yaml' } }),
    'GET /v1/index/versions': () => json(indexVersions),
    'POST /v1/index/rollback': () =>
      json({ version: 'v000001', held: {}, restored: 3, report: indexVersions.items[0] }),
    'POST /v1/index/verify': () => eventStream([`event: done\ndata: ${JSON.stringify(verified)}\n\n`]),
    'GET /v1/index/diff': () => json(diffed),
    'GET /v1/index/golden': () => json({ items: [goldenLine] }),
    'POST /v1/index/golden': () => json({ added: 1, updated: 0, items: [goldenLine] }),
    'DELETE /v1/index/golden/g1': () => new Response(null, { status: 204 }),
    'POST /v1/index/rebuild': () =>
      eventStream([`event: progress\ndata: {"phase":"build","done":1,"total":2}\n\nevent: done\ndata: ${REBUILT}\n\n`]),
  });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  service.seen.length = 0;
});

const run = (args: readonly string[], input = '') => runCli(args, { env: { AGENT_REACH_URL: service.url }, input });

function fileWith(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const registration = (agentId: string) => ({ agentId, capabilities: ['a.b.c'], transport: { type: 'local' } });

describe('route', () => {
  it('shows decision, agent, capability and score', async () => {
    const { code, out, err } = await run(['route', '明天杭州会下雨吗']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/decision +route\n/);
    expect(out).toMatch(/agent +weather-1 \(杭州天气助手, 1\.4\.0, online\)\n/);
    expect(out).toMatch(/capability +weather\.query\.city\n/);
    expect(out).toMatch(/score +0\.825 /);
    expect(service.seen[0]?.body).toEqual({ intent: '明天杭州会下雨吗' });
  });

  it('sends each flag as its field', async () => {
    const flags =
      '--capability a.b.c --namespace team --tag tier=gold --tag k=a=b --zone hz-1 --prefer p --affinity u1 --exclude a --exclude b';
    await run(['route', ...flags.split(' '), '--top-k', '3', '--min-relevance', '0.5', '--strategy', 'capacity_first']);
    expect(service.seen[0]?.body).toEqual({
      capability: 'a.b.c',
      namespace: 'team',
      tags: { tier: 'gold', k: 'a=b' },
      zone: 'hz-1',
      preferredAgentId: 'p',
      affinityKey: 'u1',
      exclude: ['a', 'b'],
      topK: 3,
      minRelevance: 0.5,
      strategy: 'capacity_first',
    });
  });

  it('explains candidates with their parts and dropped agents with their reasons', async () => {
    const { out } = await run(['route', 'rain', '--explain']);
    expect(out).toMatch(/weather-1 +weather\.query\.city +0\.825 +0\.91 -> 0\.455 +0\.75 -> 0\.225/);
    expect(out).toMatch(/weather-2 +weather\.query\.city +offline/);
    expect(out).toMatch(/0\.700 +0\.400 +passed +城市天气预报/);
  });

  it.each([
    ['nothing', 4, /no_match \(below_min_relevance\)[\s\S]*Nearest[\s\S]*mail\.send\.message/],
    ['busy', 5, /queue \(all_agents_full\)[\s\S]*retry after +1000 ms/],
    ['both', 6, /multi_intent[\s\S]*订机票 +no_match \(no_agent_available\)[\s\S]*查天气·.* +route .*weather-1 +0.93/],
  ])('ends with its own code for the decision on "%s"', async (intent, exit, text) => {
    const { code, out } = await run(['route', intent]);
    expect(code).toBe(exit);
    expect(out).toMatch(text);
  });

  it('refuses an intent without words as bad input', async () => {
    const { code, out, err } = await run(['route', '🙂']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe('AR_ERR_INVALID_INTENT: the intent holds no words\n');
  });

  it('says what an unknown capability probably should have been', async () => {
    const { code, out } = await run(['route', '--capability', 'weather.qury.city']);
    expect(code).toBe(4);
    expect(out).toMatch(/no_match \(unknown_capability\)[\s\S]*did you mean: weather\.query\.city\n$/);
  });
});

describe('--json', () => {
  it.each([
    ['route', 'rain'],
    ['route', 'nothing'],
    ['agents'],
    ['agents', 'list', '--zone', 'none'],
    ['agents', 'show', 'weather-1'],
    ['agents', 'withdraw', 'weather-1'],
    ['capabilities'],
    ['capabilities', 'show', 'weather.query.city'],
    ['capabilities', 'approve', 'weather.query.city'],
    ['capabilities', 'deprecate', 'weather.query.city', '--use', 'weather.read.city'],
    ['rules'],
    ['rules', 'put', '-'],
    ['rules', 'delete', 'invoice'],
    ['rules', 'history'],
    ['rules', 'import', '-'],
    ['rules', 'export'],
    ['rules', 'lint'],
    ['audit', '--outcome', 'scope_required'],
    ['rules', 'rollback', '2'],
    ['rules', 'dry-run', '我需要开发票'],
    ['register', '-'],
    ['index'],
    ['index', 'rebuild'],
    ['index', 'rollback', 'v000001'],
    ['index', 'verify'],
    ['index', 'diff', 'v000001', 'v000002'],
    ['index', 'golden'],
    ['index', 'golden', 'add', '明天杭州会下雨吗', 'weather.query.city'],
    ['index', 'golden', 'remove', 'g1'],
    ['index', 'golden', 'import', '-'],
    ['index', 'golden', 'export'],
    ['config'],
    ['version'],
  ])('writes one JSON value and nothing else: %s %s %s', async (...args) => {
    const { out, err } = await run([...args, '--json'], JSON.stringify(registration('a')));
    expect(err).toBe('');
    expect(() => JSON.parse(out) as unknown).not.toThrow();
  });
});

describe('tables', () => {
  const widthOf = (text: string): number =>
    [...text].reduce((sum, one) => sum + (/\p{Script=Han}/u.test(one) ? 2 : 1), 0);

  it('keeps columns straight under Chinese names', async () => {
    const { out } = await run(['agents']);
    const [head = '', weather = '', mail = ''] = out.split('\n');
    const columnOf = (line: string, word: string): number => widthOf(line.slice(0, line.indexOf(word)));
    expect(columnOf(weather, '1.4.0')).toBe(columnOf(head, 'VERSION'));
    expect(columnOf(mail, '1.4.0')).toBe(columnOf(head, 'VERSION'));
    expect(columnOf(mail, 'busy')).toBe(columnOf(head, 'STATE'));
  });

  it('never lets an agent write escape sequences to the terminal', async () => {
    const { out } = await run(['agents', 'show', 'weather-1']);
    expect(out).toContain('evil·[2J·txt');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for exactly these
    expect(out).not.toMatch(/[\u001b\u202e]/);
  });

  it.each([['agents'], ['capabilities'], ['rules'], ['index'], ['config']])(
    'writes no colour to a pipe: %s',
    async (command) => {
      expect((await run([command])).out).not.toContain('\u001b');
    },
  );

  it('walks pages up to the limit, and sends filters as the service spells them', async () => {
    const { out } = await run(['agents', '--zone', 'many', '--tag', 'tier=gold', '--limit', '600', '--json']);
    expect(JSON.parse(out)).toHaveLength(600);
    expect(service.seen.map(({ target }) => target)).toEqual([
      '/v1/agents?tag=tier%3Agold&zone=many&limit=500',
      '/v1/agents?tag=tier%3Agold&zone=many&limit=500&cursor=c',
    ]);
  });
});

describe('register', () => {
  it('registers every agent of a YAML file with a bounded number in flight', async () => {
    const agents = Array.from({ length: 60 }, (_, at) => `  - {agentId: a${at}, capabilities: [a.b.c]}`).join('\n');
    mostInFlight = 0;
    const { code, out, err } = await run([
      'register',
      fileWith('many.yaml', `agents:\n${agents}\n`),
      '--in-flight',
      '4',
    ]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe('registered 60 of 60 (60 new), 0 failed\n');
    expect(service.seen).toHaveLength(60);
    expect(mostInFlight).toBeLessThanOrEqual(4);
  });

  it('groups warnings, shows ten groups and ends with the summary', async () => {
    const list = Array.from({ length: 24 }, (_, at) => registration(`warned-${at % 12}-${at}`));
    const { code, out } = await run(['register', fileWith('warned.json', JSON.stringify(list))]);
    expect(code).toBe(0);
    expect(out.match(/near_duplicate_name +w\.r\.c\d+ +2 +as warned-/g)).toHaveLength(10);
    expect(out).toMatch(/\nand 2 more \(--json shows all\)\n\nregistered 24 of 24 \(24 new\), 0 failed\n$/);
  });

  it('takes one registration, and one in the older spelling', async () => {
    const path = fileWith('one.json', JSON.stringify({ agent_id: 'known', capabilities: ['a.b.c'] }));
    expect((await run(['register', path])).out).toBe('registered 1 of 1 (0 new), 0 failed\n');
    expect(service.seen[0]?.body).toEqual({ agent_id: 'known', capabilities: ['a.b.c'] });
  });

  it('goes on after a failure, lists it with its code, and exits 1', async () => {
    const list = [registration('a'), registration('bad'), registration('c')];
    const { code, out } = await run(['register', fileWith('list.json', JSON.stringify(list))]);
    expect(code).toBe(1);
    expect(out).toContain('registered 2 of 3 (2 new), 1 failed');
    expect(out).toMatch(
      /2 +bad +AR_ERR_INVALID_CAPABILITY +the name breaks the grammar capabilities\[0\]: has 2 segments/,
    );
    const asJson = await run(['register', join(folder, 'list.json'), '--json']);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.out)).toMatchObject({ failed: [{ place: 2, agentId: 'bad' }] });
  });

  it.each([
    ['broken YAML', 'b.yaml', 'agents: [', /b\.yaml is not well-formed YAML: .* at line 1/],
    ['broken JSON', 'b.json', '{"agents": [', /b\.json is not well-formed JSON/],
    ['two documents', 'two.yaml', 'a: 1\n---\nb: 2\n', /not well-formed YAML/],
    ['an empty file', 'e.yaml', ' \n', /is empty/],
    ['an empty list', 'l.yaml', 'agents: []', /holds no registration/],
    ['a list of words', 'w.yaml', '- weather-1', /registration 1 is not an object/],
    ['a bare word', 'x.yaml', 'weather', /registration 1 is not an object/],
    ['one agent twice', 't.json', JSON.stringify([registration('a'), registration('a')]), /given twice.* 1 and 2/],
  ])('refuses %s as bad input and sends nothing', async (_, name, content, text) => {
    const { code, out, err } = await run(['register', fileWith(name, content)]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(text);
    expect(err.trimEnd()).not.toContain('\n');
    expect(service.seen).toEqual([]);
  });

  it('refuses a file that is missing, or is a folder', async () => {
    expect(await run(['register', join(folder, 'none.yaml')])).toMatchObject({ code: 2 });
    expect(await run(['register', folder])).toMatchObject({ code: 2 });
  });
});

describe('the other commands', () => {
  it.each<[string[], RegExp]>([
    [['agents', 'withdraw', 'weather-1'], /^withdrew weather-1\n$/],
    [['agents', '--zone', 'none'], /^no agents\n$/],
    [['capabilities', 'show', 'weather.query.city'], /aliases +天气[\s\S]*Examples\n {2}明天杭州会下雨吗/],
    [['capabilities', 'deprecate', 'weather.query.city', '--use', 'w.r.c'], /is deprecated, use w\.r\.c/],
    [['rules'], /rules version 3, 2 rules[\s\S]*invoice +10 +contains +开发票 +- +finance\.issue\.invoice[\s\S]*deny/],
    [['rules', 'put', '-'], /put rule invoice, rules version 4\n {2}very_broad: takes many texts/],
    [
      ['rules', 'dry-run', '我需要开发票'],
      /decided by +invoice\noutcome +finance\.issue\.invoice\nin namespace +default: sensitive\nscope +any of sensitive, /,
    ],
    [
      ['rules', 'import', '-', '--replace'],
      /imported: 1 new, 0 replaced, 1 deleted, 1 unchanged; rules version 5\n {2}deleted old\n[\s\S]*unreachable/,
    ],
    [['rules', 'export'], /^rules:\n {2}- id: "b"\n$/],
    [
      ['audit', '--limit', '1'],
      /41 +2026[^ ]+ +web +default\/account\.delete\.user +scope_required +delete-account +- +注销我的账号\n$/,
    ],
    [['rules', 'lint'], /2 rules, 14 of 10000 regex steps\n[\s\S]*b +unreachable/],
    [['rules', 'rollback', '3'], /rules version 6 holds the 2 rules of version 3/],
    [['rules', 'history'], /4 +2026-01-01T00:00:00\.000Z +local +put invoice +2/],
    [['index'], /current v000002, 3 vectors added since[\s\S]*v000002 \* .*recall@10 1\.000 of 40/],
    [
      ['index'],
      /refused v000001: its sidecar[\s\S]*last rebuild failed at 2026[\s\S]*g1: "明天杭州会下雨吗" should be/,
    ],
    [['index', 'rollback', 'v000001'], /v000001 serves again, with the texts of then for 3 capabilities/],
    [
      ['index', 'diff', 'v000001', 'v000002'],
      /\+ team\/mail\.send\.message\n- x\.y\.z\n~ weather[\s\S]*\+ examples: 明天杭州会下雨吗\n {4}became sensitive/,
    ],
    [['index', 'golden'], /g1 +明天杭州会下雨吗 +weather\.query\.city +default/],
    [['index', 'golden', 'add', 'x', 'no_match'], /^added g1\n$/],
    [['index', 'golden', 'remove', 'g1'], /^removed g1\n$/],
    [['index', 'golden', 'import', '-'], /^1 added, 0 replaced\n$/],
    [['index', 'golden', 'export'], /^\{"id":"g1","text":"明天杭州会下雨吗"/],
    [['index', 'rebuild'], /v000002 serves: 40 vectors[\s\S]*4 embedded, 36 reused, 1 removed/],
    [['version'], /^\d+\.\d+\.\d+\n$/],
  ])('answers %j', async (args, text) => {
    const { code, out, err } = await run(args, JSON.stringify({ id: 'invoice' }));
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(text);
  });

  it('says what was probably meant', async () => {
    const { code, err } = await run(['rules', 'delete', 'none']);
    expect([code, err]).toEqual([1, 'AR_ERR_RULE_NOT_FOUND: no rule none\n  did you mean: invoice\n']);
  });

  it('goes on in silence when the reader of a long list has left', async () => {
    const child = spawn(process.execPath, cliArguments(['agents', '--zone', 'many']), {
      env: cleanEnvironment({ AGENT_REACH_URL: service.url }),
    });
    child.stdout.destroy();
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect([code, err]).toEqual([0, '']);
  });
});
