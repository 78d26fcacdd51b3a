import { describe, expect, test } from 'vitest';
import { type AgentRecord, ChangeTeller } from '../../src/registry/index.ts';
import { sampleRecord } from '../storage/sample-record.ts';

const MOMENT = { at: 1, epoch: 1 };
const put = (record: AgentRecord, why = 'registered') => ({ putAgents: [record], why });

function teller(...known: AgentRecord[]) {
  const one = new ChangeTeller();
  one.seed(known, []);
  return (change: Parameters<ChangeTeller['eventsOf']>[0]) =>
    one.eventsOf(change, MOMENT).map((event) => {
      if (event.type !== 'agent.state_changed') return event.type;
      return `${event.from} -> ${event.to} (${event.why})`;
    });
}

describe('the events of a shared registry', () => {
  const first = sampleRecord('a');
  const again = { ...first, leaseId: 'lease_2' as AgentRecord['leaseId'], incarnation: 2 };

  test('are one for each change that others can see', () => {
    const tell = teller();
    expect(tell(put(first))).toEqual(['agent.registered']);
    expect(tell(put(again))).toEqual([]);
    expect(tell(put({ ...again, version: '2', revision: 2 }))).toEqual(['agent.updated']);
    const cordoned = { ...again, version: '2', revision: 3, cordoned: { by: 'ops', at: 1, reason: 'x' } };
    expect(tell(put(cordoned, 'cordoned'))).toEqual(['online -> cordoned (cordoned)']);
    const offline = { ...again, version: '2', revision: 5, offlineAt: 1 };
    expect(tell(put({ ...offline, offlineAt: null, revision: 4 }, 'uncordoned'))).toEqual([
      'cordoned -> online (uncordoned)',
    ]);
    expect(tell(put(offline, 'lease_lapsed'))).toEqual(['online -> offline (lease_lapsed)']);
    expect(tell(put(offline, 'lease_lapsed'))).toEqual([]);
    expect(tell({ removeAgents: [first.agentId], why: 'evicted' })).toEqual(['agent.evicted']);
    expect(tell({ removeAgents: [first.agentId], why: 'evicted' })).toEqual([]);
  });

  test('of a new start of a dead agent tell that it is back, and of what is known from before nothing', () => {
    const tell = teller({ ...first, offlineAt: 1, revision: 3 });
    expect(tell(put({ ...again, revision: 4 }))).toEqual(['offline -> online (registered)']);
    expect(tell({ removeAgents: [first.agentId] })).toEqual(['agent.withdrawn']);
  });

  test('are one for an agent that comes back as what no record says', () => {
    const tell = teller({ ...first, offlineAt: 1 });
    expect(tell({ ...put({ ...first, revision: 2 }, 'beat'), state: 'busy' })).toEqual(['offline -> busy (beat)']);
    const cordoned = { ...first, revision: 3, cordoned: { by: 'ops', at: 1, reason: 'x' } };
    expect(tell({ ...put(cordoned, 'cordoned'), state: 'cordoned' })).toEqual(['busy -> cordoned (cordoned)']);
    expect(tell({ ...put({ ...first, revision: 4 }, 'uncordoned'), state: 'suspect' })).toEqual([
      'cordoned -> suspect (uncordoned)',
    ]);
  });

  test('take in what is told beside the records, of the newest start only', () => {
    const one = new ChangeTeller();
    one.seed([first], []);
    const told = (incarnation: number, to: 'suspect' | 'online') =>
      one.stateOf({ agentId: 'a', incarnation, to, why: 'beat_missed' }, MOMENT).length;
    expect([told(2, 'suspect'), told(1, 'online'), told(1, 'suspect'), told(1, 'suspect'), told(1, 'online')]).toEqual([
      0, 0, 1, 0, 1,
    ]);
    one.eventsOf(put({ ...first, offlineAt: 1, revision: 2 }, 'lease_lapsed'), MOMENT);
    expect(told(1, 'suspect')).toBe(0);
  });
});
