import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { type AuditEntry, AuditLog } from '../../src/rules/index.ts';
import { KeyValueAuditStore, MemoryStore } from '../../src/storage/index.ts';

const DAY_MS = 86_400_000;
const entry = (partial: Partial<AuditEntry> = {}): AuditEntry => ({
  requestId: 'r',
  keyId: 'web',
  namespace: 'default',
  capability: 'account.delete.user',
  outcome: 'reached',
  decision: 'route',
  agentId: 'a',
  matchedBy: 'rule',
  ruleId: 'x',
  rulesVersion: 1,
  intent: '注销',
  ...partial,
});

async function logWith(options: { keepText?: boolean; keepDays?: number } = {}, store = new MemoryStore()) {
  const clock = new ManualClock();
  const parts = { clock, store: new KeyValueAuditStore(store), keepText: true, keepDays: 90, ...options };
  const log = new AuditLog(parts);
  await log.start();
  return {
    log,
    clock,
    store,
    again: async () => {
      const next = new AuditLog(parts);
      await next.start();
      return next;
    },
  };
}

describe('AuditLog', () => {
  it('numbers on after a restart and rewrites nothing', async () => {
    const { log, store, again } = await logWith();
    for (let i = 0; i < 3; i++) await log.append(entry());
    const before = await store.entries('audit');
    const next = await again();
    await next.append(entry());
    const after = await store.entries('audit');
    expect(after.slice(0, 3)).toEqual(before);
    expect((await next.list({ limit: 9 })).items.map(({ seq }) => seq)).toEqual([4, 3, 2, 1]);
  });

  it('keeps keys rising when the wall clock is set back', async () => {
    const { log, store } = await logWith();
    await log.append(entry());
    const earlier = new AuditLog({
      clock: new ManualClock(),
      store: new KeyValueAuditStore(store),
      keepText: true,
      keepDays: 0,
    });
    await earlier.start();
    await earlier.append(entry());
    const keys = (await store.entries('audit')).map(([key]) => key);
    expect(keys).toEqual([...keys].sort());
    expect(new Set(keys).size).toBe(2);
  });

  it('pages newest first under filters, each record once', async () => {
    const { log } = await logWith();
    for (let i = 0; i < 1_200; i++) {
      await log.append(entry({ outcome: i % 3 === 0 ? 'near_miss' : 'reached', capability: `a.b.c${i % 2}` }));
    }
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await log.list({
        outcome: 'near_miss',
        capability: 'a.b.c0',
        limit: 70,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.items.map(({ seq }) => seq));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(Array.from({ length: 200 }, (_, i) => 1_195 - 6 * i));
    await expect(log.list({ limit: 1, cursor: 'x' })).rejects.toMatchObject({ code: 'AR_ERR_INVALID_CURSOR' });
  });

  it('keeps the hash alone where texts are not kept', async () => {
    const { log } = await logWith({ keepText: false });
    await log.append(entry());
    await log.append(entry({ intent: null }));
    const { items } = await log.list({ limit: 9 });
    expect(items.map(({ intent, intentHash }) => [intent, intentHash?.length])).toEqual([
      [null, undefined],
      [null, 64],
    ]);
  });

  it('drops whole days older than it keeps, and none of those kept', async () => {
    const { log, clock, store } = await logWith({ keepDays: 2 });
    const perDay: string[] = [];
    for (let day = 0; day < 6; day++) {
      await log.append(entry());
      perDay.push(String(Math.floor(clock.wallNow() / DAY_MS)));
      clock.advance(DAY_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Pruning comes hourly, and each round sets the next.
    clock.advance(3_600_000);
    await new Promise((resolve) => setImmediate(resolve));
    const firstKept = Math.floor(clock.wallNow() / DAY_MS) - 2;
    const left = (await store.entries('audit')).map(([key]) => Math.floor(Number(key.slice(0, 15)) / DAY_MS));
    expect(left).toEqual(perDay.map(Number).filter((day) => day >= firstKept));
    const forEver = await logWith({ keepDays: 0 }, store);
    forEver.clock.advance(1_000 * DAY_MS);
    expect((await store.entries('audit')).length).toBe(left.length);
  });
});
