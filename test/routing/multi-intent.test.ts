import { describe, expect, it } from 'vitest';
import { type CapabilityObject, routeReplySchema } from '../../src/contract/index.ts';
import { piecesOf } from '../../src/routing/intent-pieces.ts';
import { routerRig } from './router-rig.ts';

const FLIGHT: CapabilityObject = { name: 'travel.book.flight', description: 'book a flight', examples: ['预订机票'] };
const WEATHER: CapabilityObject = {
  name: 'weather.query.city',
  description: 'check the weather',
  examples: ['查询天气'],
};
const WIPE: CapabilityObject = { name: 'disk.wipe.all', description: 'wipe the disk', sensitive: true };

async function travelRig(options: Parameters<typeof routerRig>[0] = {}) {
  const rig = await routerRig(options);
  await rig.register({ id: 'flights-1' }, [FLIGHT]);
  await rig.register({ id: 'weather-1' }, [WEATHER]);
  return rig;
}

const cut = (text: string): string[] => piecesOf(text).map(({ start, end }) => text.slice(start, end));

describe('places where a request could be cut', () => {
  it.each([
    ['book a flight and check the weather', ['book a flight', 'check the weather']],
    ['预订机票然后查询天气', ['预订机票', '查询天气']],
    ['book a flight. then, check the weather', ['book a flight', 'check the weather']],
    ['查一下天气,还有订一张机票。谢谢你', ['查一下天气', '订一张机票', '谢谢你']],
    ['比较上海和北京的天气', ['比较上海', '北京的天气']],
  ])('%s', (text, pieces) => {
    expect(cut(text)).toEqual(pieces);
  });

  it.each([
    'search and replace text',
    'black and white photo',
    '如果下雨然后提醒我',
    'if it rains, remind me',
    'pay 3.5 dollars',
    'the u.s. population',
    'one two, three four, five six, seven eight, nine ten',
  ])('are none in: %s', (text) => {
    expect(cut(text)).toEqual([text]);
  });
});

describe('a request that holds several intents', () => {
  it.each(['book a flight and check the weather', '预订机票，然后查询天气'])(
    'answers each with its agent: %s',
    async (intent) => {
      const { ask } = await travelRig();
      const reply = routeReplySchema.parse(await ask({ intent, explain: true }));
      expect(reply).toMatchObject({
        decision: 'multi_intent',
        reason: null,
        capability: null,
        agent: null,
        score: null,
      });
      expect(reply.intents).toMatchObject([
        { decision: 'route', capability: 'travel.book.flight', agent: { agentId: 'flights-1' }, ambiguous: false },
        { decision: 'route', capability: 'weather.query.city', agent: { agentId: 'weather-1' }, ambiguous: false },
      ]);
      const relevances = reply.intents?.map(({ relevance }) => relevance ?? 0) ?? [];
      expect(reply.relevance).toBe(Math.min(...relevances));
      expect(reply.explain?.reading?.parts.map(({ capability }) => capability)).toEqual([
        'travel.book.flight',
        'weather.query.city',
      ]);
      expect(reply.explain?.candidates.map(({ agentId }) => agentId)).toEqual(['flights-1', 'weather-1']);
    },
  );

  it('is remembered as such, and embeds each text once', async () => {
    const { ask, embedder } = await travelRig();
    const texts: string[] = [];
    const { embed } = embedder;
    embedder.embed = (asked, options) => {
      texts.push(...asked);
      return embed.call(embedder, asked, options);
    };
    const first = await ask({ intent: 'book a flight and check the weather' });
    expect(texts).toEqual(['book a flight and check the weather', 'book a flight', 'check the weather']);
    const again = await ask({ intent: 'Book a flight AND check the weather' });
    expect(again).toMatchObject({ decision: 'multi_intent', cache: 'hit', intents: first.intents });
    await ask({ intent: 'book a flight' });
    expect(texts.slice(3)).toEqual(['book a flight']);
  });

  it('decides on live agents: one part may wait or have nobody', async () => {
    const { ask, replace } = await travelRig();
    replace({ id: 'weather-1', capabilities: [WEATHER.name], state: 'offline' });
    const reply = await ask({ intent: 'book a flight and check the weather' });
    expect(reply.decision).toBe('multi_intent');
    expect(reply.intents?.map(({ decision, reason }) => [decision, reason])).toEqual([
      ['route', null],
      ['no_match', 'no_agent_available'],
    ]);
  });

  it('is one where it is switched off, where one part is refused, and where both mean the same', async () => {
    const off = await travelRig({ multiIntent: false });
    expect((await off.ask({ intent: 'book a flight and check the weather' })).decision).not.toBe('multi_intent');
    const { ask } = await travelRig();
    for (const intent of ['book a flight and feed the cat', 'book a flight, please book a flight']) {
      expect(await ask({ intent })).toMatchObject({ decision: 'route', capability: 'travel.book.flight' });
    }
    const strict = await ask({ intent: 'book a flight and check the weather', minRelevance: 1 });
    expect(strict).toMatchObject({ decision: 'no_match', reason: 'below_min_relevance' });
    expect(strict.intents).toBeUndefined();
  });

  it('tells of a part that came near a sensitive capability without naming it, and records it', async () => {
    const { ask, register, audit } = await travelRig();
    await register({ id: 'wiper-1' }, [WIPE]);
    const reply = await ask({ intent: 'check the weather, then wipe the disk', explain: true }, ['route']);
    expect(reply.intents?.[1]).toMatchObject({
      decision: 'no_match',
      reason: 'sensitive_requires_rule',
      capability: null,
      agent: null,
    });
    expect(JSON.stringify(reply)).not.toContain(WIPE.name);
    const { items } = await audit.list({ limit: 10 });
    expect(items).toMatchObject([{ capability: WIPE.name, outcome: 'near_miss', decision: 'no_match' }]);
  });
});

describe('a request that says what is not to be done', () => {
  const LIST: CapabilityObject = { name: 'file.list.all', description: 'list files', examples: ['列出文件'] };
  const DELETE: CapabilityObject = { name: 'file.delete.one', description: 'delete files', examples: ['删除文件'] };
  const filesRig = async () => {
    const rig = await routerRig();
    await rig.register({ id: 'files-1' }, [LIST, DELETE]);
    return rig;
  };

  it.each([
    "don't delete files, only list files",
    'list files, do not delete files',
    'list files instead of delete files',
    '不要删除文件，只列出文件',
    '列出文件，别删除文件',
    '除了删除文件以外，列出文件',
  ])('goes to what is left: %s', async (intent) => {
    const { ask } = await filesRig();
    const reply = await ask({ intent, explain: true });
    expect(reply).toMatchObject({ decision: 'route', capability: 'file.list.all', ambiguous: false });
    expect(reply.explain?.reading?.denied).toMatchObject([{ capabilities: ['file.delete.one'] }]);
    expect(reply.alternatives.map(({ capability }) => capability)).not.toContain('file.delete.one');
  });

  it.each(["don't delete files", '不要删除文件'])('is no_match where nothing is left: %s', async (intent) => {
    const { ask } = await filesRig();
    expect(await ask({ intent })).toMatchObject({ decision: 'no_match', reason: 'negated', capability: null });
  });

  it.each([
    ["don't forget to delete files", 'file.delete.one'],
    ['别忘了删除文件', 'file.delete.one'],
    ["i can't list files", 'file.list.all'],
    ['无法列出文件', 'file.list.all'],
  ])('goes to what it names where it affirms or complains: %s', async (intent, capability) => {
    const { ask } = await filesRig();
    expect(await ask({ intent })).toMatchObject({ decision: 'route', capability });
  });

  it('keeps a capability whose own meaning holds the negation', async () => {
    const { ask, register } = await filesRig();
    await register({ id: 'quiet-1' }, [
      { name: 'notify.mute.all', description: 'do not send notifications', examples: ['不要打扰我'] },
    ]);
    for (const intent of ['do not send notifications', '不要打扰我']) {
      expect(await ask({ intent })).toMatchObject({ decision: 'route', capability: 'notify.mute.all' });
    }
  });

  it('takes no sensitive capability for meant that is denied', async () => {
    const { ask, register } = await filesRig();
    await register({ id: 'wiper-1' }, [WIPE]);
    expect(await ask({ intent: 'list files, do not wipe the disk' })).toMatchObject({
      decision: 'route',
      capability: 'file.list.all',
    });
  });
});
