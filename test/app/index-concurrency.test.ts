import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capabilityTexts, readDefinitions, unionMeaning } from '../../src/capability/index.ts';
import type { CapabilityObject } from '../../src/contract/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { FlatIndex } from '../../src/vector-index/index.ts';
import { ask, call, registration } from './client.ts';
import { type HashService, startHashService } from './hash-service.ts';

const ROUTES = 200;
const REBUILDS = 5;
const CHANGES = 300;
const STEADY = 400;
const WORDS = ['harbour', 'violin', 'glacier', 'invoice', 'meadow', 'lantern', 'turbine', 'orchid', 'saddle', 'quartz'];

function wordsOf(i: number): string[] {
  return [WORDS[i % 10] ?? '', WORDS[Math.floor(i / 10) % 10] ?? '', WORDS[(i * 7 + 3) % 10] ?? '', `number${i}`];
}
/** Three words that no other number has. */
const phraseOf = (i: number): string => wordsOf(i).join(' ');
const steady = (i: number) => ({ name: `steady.find.thing_${i}`, description: phraseOf(i) });
const passing = (i: number) => ({ name: `passing.find.thing_${i}`, description: `passing ${phraseOf(1_000 + i)}` });

/** Not as registered, in another order and among other words; all words are there, so that the word index agrees. */
function intentOf(i: number, round: number): string {
  const [first, second, third, number] = wordsOf(i);
  if (round % 3 === 0) return `please ${number} ${third} and the ${first} ${second}`;
  if (round % 3 === 1) return `${third} ${number} ${second} ${first} or so`;
  return phraseOf(i);
}

const embedder = new HashEmbedder();
/** Every text of every capability that is ever registered, scanned one by one: apart from all that is tested here. */
const exact = new FlatIndex(embedder.info.dimensions);

let dir: string;
let service: HashService;

async function addToExactScan(capability: CapabilityObject): Promise<void> {
  const [definition] = readDefinitions([capability], []);
  if (definition === undefined) throw new Error('no definition');
  const texts = capabilityTexts(unionMeaning('default', definition.name, [definition], undefined));
  const vectors = await embedder.embed(
    texts.map(({ text }) => text),
    { kind: 'document' },
  );
  for (const [i, vector] of vectors.entries()) exact.upsert(`${capability.name} ${i}`, vector);
}

async function exactAnswer(intent: string): Promise<string | undefined> {
  const [query = new Float32Array(0)] = await embedder.embed([intent], { kind: 'query' });
  return exact.search(query, 1)[0]?.id.split(' ', 1)[0];
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'agent-reach-concurrency-'));
  await embedder.start();
  // Low enough for a hash embedder, which knows words only.
  const routing = { minRelevance: 0.01, cacheEntries: 0 };
  service = await startHashService({ data: { dir }, routing });
  for (let i = 0; i < STEADY; i += 50) {
    const some = Array.from({ length: 50 }, (_, k) => i + k);
    await Promise.all(
      some.map((n) => call(service.url, 'POST', '/v1/agents', registration(`steady-${n}`, [steady(n)]))),
    );
  }
  for (let i = 0; i < STEADY; i++) await addToExactScan(steady(i));
  for (let i = 0; i < CHANGES / 2; i++) await addToExactScan(passing(i));
});
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.died;
  rmSync(dir, { recursive: true, force: true });
});

describe('routes, rebuilds, registrations and withdrawals at once', () => {
  it('never fail, name one version each, and never answer who has withdrawn', async () => {
    const { url } = service;
    const statuses = new Map<number, number>();
    const note = (status: number): void => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    const withdrawn = new Set<string>();
    const versions = new Set<string>();
    const lateAnswers: string[] = [];
    const differences: string[] = [];
    let compared = 0;
    let isOver = false;

    const routes = Array.from({ length: ROUTES }, async (_, worker) => {
      for (let round = 0; round === 0 || (!isOver && round < 5); round++) {
        const goneBefore = new Set(withdrawn);
        const i = (worker * 13 + round * 101) % STEADY;
        const isPassing = worker % 4 === 3;
        const intent = isPassing ? `passing ${phraseOf(1_000 + (i % 150))}` : intentOf(i, round + worker);
        const { status, body } = await ask(url, intent);
        note(status);
        versions.add(body.indexVersion);
        expect(body.indexVersion).toMatch(/^v\d{6}$/);
        if (goneBefore.has(body.agent?.agentId)) lateAnswers.push(body.agent.agentId);
        if (isPassing) continue;
        const right = await exactAnswer(intent);
        // Else the answer would depend on who is there at the moment.
        expect(right).toMatch(/^steady/);
        compared++;
        if (body.capability !== right) differences.push(`${intent}: ${body.capability} instead of ${right}`);
      }
    });
    const changes = Array.from({ length: 10 }, async (_, lane) => {
      for (let n = lane; n < CHANGES / 2; n += 10) {
        const id = `passing-${n}`;
        note((await call(url, 'POST', '/v1/agents', registration(id, [passing(n)]))).status);
        note((await call(url, 'DELETE', `/v1/agents/${id}`)).status);
        withdrawn.add(id);
      }
    });
    const rebuilds = (async () => {
      for (let n = 0; n < REBUILDS; n++) note((await call(url, 'POST', '/v1/index/rebuild')).status);
      isOver = true;
    })();
    await Promise.all([...routes, ...changes, rebuilds]);

    expect([...statuses.keys()].sort()).toEqual([200, 201, 204]);
    expect(statuses.get(204)).toBe(CHANGES / 2);
    expect(withdrawn.size).toBe(CHANGES / 2);
    expect(lateAnswers).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(150);
    expect(differences.length, differences.join('; ')).toBeLessThanOrEqual(compared * 0.01);
    expect(versions.size).toBeGreaterThan(1);
    for (let n = 0; n < CHANGES / 2; n += 15) {
      const { body } = await ask(url, `passing ${phraseOf(1_000 + n)}`);
      expect(body.capability).not.toBe(passing(n).name);
    }
  }, 60_000);
});
