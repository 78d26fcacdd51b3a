import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routeRequestSchema } from '../../src/contract/index.ts';
import type { CapabilityName } from '../../src/core/index.ts';
import { eligibleAgents } from '../../src/routing/eligibility.ts';
import { gate, verdictOf } from '../../src/routing/gate.ts';
import type { RecalledCapability } from '../../src/routing/recall.ts';
import { medianLatencyMs, rerank } from '../../src/routing/rerank.ts';
import { DEFAULT_ROUTING } from '../../src/routing/routing-options.ts';
import { select } from '../../src/routing/select.ts';
import { agent, seededRandom, viewOf } from './agents.ts';

function recalled(name: string, relevance: number, sensitive = false): RecalledCapability {
  return {
    name: name as CapabilityName,
    relevance,
    sensitive,
    similarity: relevance,
    lexicalScore: 0,
    nearestText: name,
  };
}

const OPTIONS = { minRelevance: 0.4, ambiguityMargin: 0.05, relevanceGate: 0.1 };

describe('gate', () => {
  it('lets only those near the best go on', () => {
    const list = [recalled('a.b.c', 0.9), recalled('d.e.f', 0.86), recalled('g.h.i', 0.7)];
    const gated = gate(list, OPTIONS);
    expect(gated.passed.map(({ name }) => name)).toEqual(['a.b.c', 'd.e.f']);
    expect(gated.ambiguous).toBe(true);
  });

  it('answers nothing under the least relevance', () => {
    expect(gate([recalled('a.b.c', 0.39)], OPTIONS)).toEqual({
      passed: [],
      reason: 'below_min_relevance',
      ambiguous: false,
    });
    expect(gate([], OPTIONS).reason).toBe('below_min_relevance');
  });

  it('counts together what reads alike, unless the caller set the least relevance', () => {
    const alike = [0.3, 0.29, 0.28, 0.15, 0.02].map((relevance, i) => recalled(`a.b.c${i}`, relevance));
    const gated = gate(alike, OPTIONS);
    expect(gated.passed.map(({ name }) => name)).toEqual(['a.b.c0', 'a.b.c1', 'a.b.c2']);
    expect(gated).toMatchObject({ reason: null, ambiguous: true });
    expect(gate(alike, { ...OPTIONS, isStrict: true }).reason).toBe('below_min_relevance');
    const two = alike.slice(0, 1);
    expect(gate(two, OPTIONS).reason).toBe('below_min_relevance');
  });

  it('lifts nothing that is far under the least relevance, however many there are', () => {
    const nonsense = Array.from({ length: 32 }, (_, i) => recalled(`a.b.c${i}`, 0.1));
    expect(gate(nonsense, OPTIONS).reason).toBe('below_min_relevance');
  });

  it('never passes a sensitive capability, nor the next best in its place', () => {
    const gated = gate([recalled('account.delete.user', 0.9, true), recalled('account.query.user', 0.88)], OPTIONS);
    expect(gated).toEqual({ passed: [], reason: 'sensitive_requires_rule', ambiguous: false });
    const behind = gate([recalled('account.query.user', 0.9), recalled('account.delete.user', 0.88, true)], OPTIONS);
    expect(behind.passed.map(({ name }) => name)).toEqual(['account.query.user']);
  });

  it('says why each was kept or not', () => {
    const best = recalled('a.b.c', 0.9);
    const verdict = (one: RecalledCapability) => verdictOf(one, best, OPTIONS);
    expect(verdict(best)).toBe('passed');
    expect(verdict(recalled('d.e.f', 0.7))).toBe('outside_gate');
    expect(verdict(recalled('d.e.f', 0.2))).toBe('below_min_relevance');
    expect(verdict(recalled('d.e.f', 0.9, true))).toBe('sensitive');
  });

  it('never lets an idle agent of another capability beat a busy right one', () => {
    const right = 'weather.query.city' as CapabilityName;
    const wrong = 'mail.send.message' as CapabilityName;
    fc.assert(
      fc.property(
        fc.double({ min: DEFAULT_ROUTING.minRelevance, max: 1, noNaN: true }),
        fc.double({ min: 0.001, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 0, max: 20_000 }),
        fc.integer(),
        (relevance, gap, active, latencyMs, seed) => {
          const other = relevance - DEFAULT_ROUTING.relevanceGate - gap;
          const list = [recalled(right, relevance), recalled(wrong, Math.max(0, other))];
          const view = viewOf([
            agent({ id: 'busy-weather', capabilities: [right], load: { active, queued: 0, max: 8 }, latencyMs }),
            agent({ id: 'idle-mail', capabilities: [wrong], load: { active: 0, queued: 0, max: 8 }, latencyMs: 1 }),
          ]);
          const request = routeRequestSchema.parse({ intent: 'x' });
          const { candidates } = eligibleAgents(gate(list, DEFAULT_ROUTING).passed, view, request);
          const context = {
            request,
            options: DEFAULT_ROUTING,
            random: seededRandom(seed),
            medianLatencyMs: medianLatencyMs(candidates),
          };
          expect(select(rerank(candidates, context), context).chosen.agent.record.agentId).toBe('busy-weather');
        },
      ),
    );
  });
});
