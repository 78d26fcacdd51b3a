/** Which agents compete, and with what weight, by how they are: suspect, silent, put aside, new. */
import { describe, expect, it } from 'vitest';
import { type RouteRequest, routeRequestSchema } from '../../src/contract/index.ts';
import type { CapabilityName } from '../../src/core/index.ts';
import { weightNote } from '../../src/routing/agent-weight.ts';
import { eligibleAgents } from '../../src/routing/eligibility.ts';
import { medianLatencyMs, rerank } from '../../src/routing/rerank.ts';
import { DEFAULT_ROUTING } from '../../src/routing/routing-options.ts';
import { select } from '../../src/routing/select.ts';
import { bindSteps } from '../../src/routing/strategies/strategy-catalog.ts';
import { type AgentSketch, agent, seededRandom, viewOf } from './agents.ts';
import { MAIL, routerRig, WEATHER as WEATHER_OBJECT } from './router-rig.ts';

const WEATHER = 'weather.query.city' as CapabilityName;
const weather = (id: string, rest: Partial<AgentSketch> = {}): AgentSketch => ({
  id,
  capabilities: [WEATHER],
  ...rest,
});
const suspect = (id: string, doubt: AgentSketch['doubt'] = 'silent', rest: Partial<AgentSketch> = {}) =>
  weather(id, { state: 'suspect', doubt, ...rest });

function eligible(sketches: readonly AgentSketch[], fields: Partial<RouteRequest> = {}, inFlight = {}) {
  const request = { ...routeRequestSchema.parse({ intent: 'x' }), ...fields };
  const view = viewOf(sketches.map(agent), inFlight);
  const found = eligibleAgents([{ name: WEATHER, relevance: 0.9 }], view, request);
  const context = {
    request,
    options: DEFAULT_ROUTING,
    random: seededRandom(7),
    medianLatencyMs: medianLatencyMs(found.candidates),
  };
  const ranked = rerank(found.candidates, context);
  return {
    ...found,
    ids: found.candidates.map((one) => one.agent.record.agentId),
    reasons: Object.fromEntries(found.dropped.map((one) => [one.agentId, one.reason])),
    ranked,
    weightOf: (id: string) => ranked.find((one) => one.agent.record.agentId === id)?.weight,
    context,
  };
}

describe('a suspect agent', () => {
  it('keeps half of its score, and its slots count half', () => {
    const { ranked, weightOf } = eligible([weather('well'), suspect('doubted')]);
    expect([weightOf('well'), weightOf('doubted')]).toEqual([1, 0.5]);
    expect(ranked[1]?.score).toBeCloseTo((ranked[0]?.score ?? 0) / 2, 12);
    expect(weightNote(agent(suspect('doubted')), 0.5)).toBe('suspect (registered) counts half');
  });

  it('is taken half as often by capacity, and last of many', () => {
    const { ranked, context } = eligible([weather('well'), suspect('doubted')]);
    const options = { ...DEFAULT_ROUTING, strategies: bindSteps([{ name: 'capacity_first' }]) };
    let doubted = 0;
    for (let i = 0; i < 3_000; i++) {
      if (select(ranked, { ...context, options }).chosen.agent.record.agentId === 'doubted') doubted += 1;
    }
    expect(doubted).toBeGreaterThan(850);
    expect(doubted).toBeLessThan(1_150);
    const many = eligible([
      ...Array.from({ length: 15 }, (_, i) => weather(`well-${i}`)),
      ...Array.from({ length: 10 }, (_, i) => suspect(`doubted-${i}`)),
    ]);
    for (let i = 0; i < 500; i++) expect(select(many.ranked, many.context).chosen.agent.liveness.state).toBe('online');
  });

  it('that answers no probe, or whose lease ran out, is asked only where nobody else is left', () => {
    const dead = suspect('dead', 'unanswered');
    const lapsed = suspect('lapsed', 'lapsed');
    expect(eligible([weather('well'), weather('too'), dead, lapsed])).toMatchObject({
      ids: ['well', 'too'],
      reasons: { dead: 'not_answering', lapsed: 'not_answering' },
    });
    expect(eligible([weather('well'), weather('too'), suspect('silent'), lapsed]).ids).toEqual([
      'well',
      'too',
      'silent',
    ]);
    expect(eligible([dead, suspect('dead-too', 'unanswered')]).ids).toEqual(['dead', 'dead-too']);
    expect(eligible([dead]).ids).toEqual(['dead']);
  });

  it('that answers no probe does not stand in for one that is full or busy, but for one that may not be asked', () => {
    const dead = suspect('dead', 'unanswered');
    const full = weather('full', { load: { active: 8, queued: 0, max: 8 } });
    expect(eligible([full, dead])).toMatchObject({ ids: [], reasons: { full: 'no_free_slots' } });
    expect(eligible([weather('busy', { state: 'busy' }), dead]).ids).toEqual([]);
    expect(eligible([weather('well'), dead], { exclude: ['well'] }).ids).toEqual(['dead']);
    for (const state of ['offline', 'draining', 'cordoned'] as const) {
      expect(eligible([weather('away', { state }), dead]).ids).toEqual(['dead']);
    }
  });
});

describe('panic', () => {
  it('is when fewer than half of the living are well, and lets those put aside work too', () => {
    const aside = weather('aside', { state: 'ejected' });
    expect(eligible([weather('well'), aside])).toMatchObject({ panicking: [], reasons: { aside: 'ejected' } });
    const panic = eligible([weather('well'), aside, suspect('doubted')]);
    expect(panic).toMatchObject({ panicking: [WEATHER], ids: ['well', 'aside', 'doubted'] });
    expect(panic.weightOf('aside')).toBe(0.5);
  });

  it('lets the silent whose lease ran out work too, but none that failed a probe while they did not', () => {
    const found = eligible([weather('well'), suspect('lapsed', 'lapsed'), suspect('dead', 'unanswered')]);
    expect(found).toMatchObject({ panicking: [WEATHER], ids: ['well', 'lapsed'], reasons: { dead: 'not_answering' } });
    expect(eligible([suspect('lapsed', 'lapsed'), suspect('dead', 'unanswered')]).ids).toEqual(['lapsed']);
  });

  it('counts neither the dead nor those that an operator or they themselves took away', () => {
    const away = (['offline', 'draining', 'cordoned'] as const).map((state) => weather(state, { state }));
    const found = eligible([weather('well'), ...away]);
    expect(found).toMatchObject({ panicking: [], ids: ['well'] });
    expect(eligible([suspect('doubted'), ...away])).toMatchObject({ panicking: [WEATHER], ids: ['doubted'] });
  });

  it('counts a busy agent as well', () => {
    expect(eligible([weather('busy', { state: 'busy' }), suspect('doubted')]).panicking).toEqual([]);
  });

  it('never reaches one put aside that answers no probe while others do', () => {
    const aside = weather('aside', { state: 'ejected', doubt: 'unanswered' });
    const found = eligible([weather('well'), aside, suspect('doubted')]);
    expect(found).toMatchObject({ panicking: [WEATHER], ids: ['well', 'doubted'], reasons: { aside: 'ejected' } });
  });
});

describe('a new agent', () => {
  const warmUp = (ageMs: number) => ({ warmUp: { from: -ageMs, until: 30_000 - ageMs } });

  it('has a tenth of its weight at first, more from second to second, all of it after thirty', () => {
    const weightAt = (ageMs: number) => eligible([weather('old'), weather('new', warmUp(ageMs))]).weightOf('new');
    expect(weightAt(0)).toBeCloseTo(0.1, 9);
    expect(weightAt(15_000)).toBeCloseTo(0.55, 9);
    expect([weightAt(30_000), weightAt(60_000)]).toEqual([1, 1]);
    expect(weightNote(agent(weather('new')), 0.1)).toBe('new: its weight grows over its first seconds');
  });

  it('has all of it where everybody is new: there is nobody to spare it', () => {
    const found = eligible([weather('one', warmUp(0)), weather('two', warmUp(20_000))]);
    expect([found.weightOf('one'), found.weightOf('two')]).toEqual([1, 1]);
  });
});

describe('load', () => {
  it('that nobody reported counts as the median of those who did, as none where nobody did', () => {
    const loaded = (id: string, active: number) => weather(id, { load: { active, queued: 0, max: 10 } });
    const found = eligible([loaded('a', 1), loaded('b', 4), loaded('c', 9), weather('unknown')]);
    expect(found.candidates.map(({ load }) => load)).toEqual([0.1, 0.4, 0.9, 0.4]);
    expect(eligible([weather('x'), weather('y')]).candidates.map(({ load }) => load)).toEqual([0, 0]);
  });

  it('is what we gave out where that is more, and takes its slots', () => {
    const { candidates, reasons } = eligible([weather('a'), weather('b'), weather('c')], {}, { b: 4, c: 8 });
    expect(candidates.map(({ load, freeSlots }) => [load, freeSlots])).toEqual([
      [0.5, 8],
      [0.5, 4],
    ]);
    expect(reasons).toEqual({ c: 'no_free_slots' });
  });
});

describe('the reply', () => {
  it('says panic, and explains the weight', async () => {
    const rig = await routerRig();
    await rig.register({ id: 'mail' }, [MAIL]);
    await rig.register({ id: 'doubted', state: 'suspect', doubt: 'silent' }, [WEATHER_OBJECT]);
    const reply = await rig.ask({ intent: 'will it rain tomorrow', explain: true });
    expect(reply).toMatchObject({ decision: 'route', panic: true, agent: { agentId: 'doubted', state: 'suspect' } });
    const [candidate] = reply.explain?.candidates ?? [];
    expect(candidate?.agentWeight).toEqual({ value: 0.5, note: 'suspect (registered) counts half' });
    const parts = candidate?.parts.reduce((sum, { part }) => sum + part, 0) ?? 0;
    expect(candidate?.score).toBeCloseTo(parts / 2, 5);
    expect(await rig.ask({ intent: 'send an email to somebody' })).not.toHaveProperty('panic');
  });
});
