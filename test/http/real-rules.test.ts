import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { createHttpApp } from '../../src/http/index.ts';
import { RuleService } from '../../src/rules/index.ts';
import { KeyValueRuleStore, MemoryStore } from '../../src/storage/index.ts';
import { createStandIn } from './stand-in-services.ts';

function start() {
  const rules = new RuleService({ clock: new ManualClock(), store: new KeyValueRuleStore(new MemoryStore()) });
  const app = createHttpApp({ ...createStandIn(), rules }, { host: '127.0.0.1', apiKeys: [] });
  return async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const init = { method, headers: { 'content-type': 'application/json', ...headers } };
    const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) };
    const response = await app.fetch(new Request(`http://localhost${path}`, sent));
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      etag: response.headers.get('etag'),
      text,
      json: isJson ? JSON.parse(text) : null,
    };
  };
}

const RULE = { id: 'invoice', match: 'contains', patterns: ['开发票'], capability: 'finance.issue.invoice' };

describe('the rules routes over the real rules', () => {
  it('creates, replaces, guards and deletes under one version', async () => {
    const send = start();
    expect(await send('POST', '/v1/rules', RULE)).toMatchObject({ status: 201, etag: '"1"' });
    const replaced = await send('POST', '/v1/rules', { ...RULE, priority: 5 }, { 'if-match': '"1"' });
    expect(replaced).toMatchObject({ status: 200, json: { rulesVersion: 2, rule: { priority: 5 } } });
    const stale = await send('DELETE', '/v1/rules/invoice', undefined, { 'if-match': '"1"' });
    expect(stale).toMatchObject({ status: 409, json: { code: 'AR_ERR_RULE_CONFLICT' } });
    const dryRun = await send('POST', '/v1/rules/dry-run', { intent: '我需要开发票' });
    expect(dryRun.json).toMatchObject({ decidedBy: 'invoice', capability: 'finance.issue.invoice' });
    const gone = await send('DELETE', '/v1/rules/invoice', undefined, { 'if-match': '"2"' });
    expect(gone).toMatchObject({ status: 204, etag: '"3"' });
    const history = await send('GET', '/v1/rules/history');
    expect(history.json.items.map((one: { change: string }) => one.change)).toEqual([
      'delete invoice',
      'put invoice',
      'put invoice',
    ]);
  });

  it.each([
    ['a regex that does not compile', { match: 'regex', patterns: ['('] }, 'AR_ERR_INVALID_RULE'],
    ['a pattern of blanks', { patterns: ['  '] }, 'AR_ERR_INVALID_RULE'],
    ['a malformed capability', { capability: 'invoice' }, 'AR_ERR_INVALID_CAPABILITY'],
  ])('refuses %s with a coded 400 that changes nothing', async (_what, change, code) => {
    const send = start();
    expect(await send('POST', '/v1/rules', { ...RULE, ...change })).toMatchObject({ status: 400, json: { code } });
    expect((await send('GET', '/v1/rules')).json).toEqual({ rulesVersion: 0, items: [] });
  });

  it('exports, imports, checks and rolls back, each edit with its own version', async () => {
    const send = start();
    await send('POST', '/v1/rules', RULE);
    const file = await send('GET', '/v1/rules/export');
    expect(file).toMatchObject({ status: 200, etag: '"1"', text: expect.stringContaining('- id: "invoice"') });
    await send('DELETE', '/v1/rules/invoice');
    const imported = await send('POST', '/v1/rules/import', { yaml: file.text }, { 'if-match': '"2"' });
    expect(imported).toMatchObject({ status: 200, etag: '"3"', json: { created: ['invoice'], applied: true } });
    expect(await send('POST', '/v1/rules/import', { rules: [] }, { 'if-match': '"2"' })).toMatchObject({ status: 409 });
    const bad = await send('POST', '/v1/rules/import', {
      rules: [RULE, { ...RULE, id: 'x', match: 'regex', patterns: ['('] }],
    });
    expect(bad).toMatchObject({
      status: 400,
      json: { code: 'AR_ERR_INVALID_RULE', issues: [{ path: 'rules[1].patterns[0]' }] },
    });
    expect(await send('POST', '/v1/rules/rollback', { version: 2 })).toMatchObject({
      status: 200,
      etag: '"4"',
      json: { rulesVersion: 4, rules: 0 },
    });
    expect(await send('POST', '/v1/rules/rollback', { version: 77 })).toMatchObject({ status: 404 });
    expect(await send('GET', '/v1/rules/lint')).toMatchObject({ status: 200, json: { rules: 0, items: [] } });
    const history = await send('GET', '/v1/rules/history?limit=1');
    expect(history.json.items).toMatchObject([{ version: 4, change: 'rollback to 2', editedBy: 'local' }]);
  });

  it.each(['history', 'export', 'lint'])('refuses a rule named as the address %s', async (id) => {
    const answer = await start()('POST', '/v1/rules', { ...RULE, id });
    expect(answer).toMatchObject({ status: 400, json: { code: 'AR_ERR_INVALID_RULE', issues: [{ path: 'id' }] } });
  });

  it.each(['GET', 'DELETE'])('answers %s of an unknown rule with 404', async (method) => {
    const send = start();
    const answer = await send(method, '/v1/rules/nothing');
    expect(answer).toMatchObject({ status: 404, json: { code: 'AR_ERR_RULE_NOT_FOUND' } });
  });
});
