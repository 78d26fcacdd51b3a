import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventLog, type ReadEvent, type RegistryEvent } from '../../src/events/index.ts';

const event = (epoch: number): RegistryEvent => ({
  type: 'agent.updated',
  at: 0,
  epoch,
  agentId: 'a',
  namespace: 'default',
  incarnation: 1,
  revision: epoch,
});
const epochsOf = (read: readonly ReadEvent[]) =>
  read.map((one) => (one.kind === 'event' ? one.event.epoch : `gap of ${one.missed}`));

describe('event log', () => {
  test('hands out what comes after a reader began, in order and once', () => {
    const log = new EventLog({ id: 'x' });
    log.append(event(1));
    const reader = log.read();
    expect(reader.take(10)).toEqual([]);
    log.append(event(2));
    log.append(event(3));
    expect(epochsOf(reader.take(1))).toEqual([2]);
    expect(epochsOf(reader.take(10))).toEqual([3]);
    expect(reader.take(10)).toEqual([]);
  });

  test('begins earlier where the past is told again', () => {
    const log = new EventLog({ id: 'x', from: 7 });
    log.startAt(3);
    log.append(event(1), 5);
    log.append(event(2), 8);
    expect(epochsOf(log.read('x-4-0').take(10))).toEqual([1, 2]);
    expect(epochsOf(log.read('x-5-0').take(10))).toEqual([2]);
    expect(() => log.read('x-3-0')).toThrow(expect.objectContaining({ code: 'AR_ERR_EVENTS_GONE' }));
  });

  test('numbers the events of one change, and goes on after any of its ids', () => {
    const log = new EventLog({ id: 'x', from: 7 });
    for (const [epoch, position] of [
      [1, 8],
      [2, 8],
      [3, 10],
    ] as const)
      log.append(event(epoch), position);
    const all = log.read('x-7-999999').take(10);
    expect(all.map((one) => (one.kind === 'event' ? one.id : ''))).toEqual(['x-8-0', 'x-8-1', 'x-10-0']);
    expect(epochsOf(log.read('x-8-0').take(10))).toEqual([2, 3]);
    expect(epochsOf(log.read('x-9-3').take(10))).toEqual([3]);
    expect(log.read(log.lastId).take(10)).toEqual([]);
  });

  test('refuses ids of what is dropped, of another log, and of none', () => {
    const log = new EventLog({ id: 'x', capacity: 2 });
    for (let i = 1; i <= 4; i++) log.append(event(i));
    expect(epochsOf(log.read('x-2-0').take(10))).toEqual([3, 4]);
    for (const id of ['x-1-0', 'y-2-0']) {
      expect(() => log.read(id)).toThrowError(expect.objectContaining({ code: 'AR_ERR_EVENTS_GONE' }));
    }
    expect(() => log.read('nonsense')).toThrowError(expect.objectContaining({ code: 'AR_ERR_INVALID_CURSOR' }));
  });

  test('tells a reader that has seen more than this instance only what comes after that', () => {
    const log = new EventLog({ id: 'x' });
    for (let i = 1; i <= 3; i++) log.append(event(i));
    const ahead = log.read('x-5-0');
    expect([ahead.take(10), ahead.lastId]).toEqual([[], 'x-5-0']);
    for (let i = 4; i <= 5; i++) log.append(event(i));
    log.append(event(6), 5);
    log.append(event(7), 6);
    expect(epochsOf(ahead.take(10))).toEqual([6, 7]);
  });

  test('tells of no gap that lies before what a reader has seen, and of the rest of one that goes on after it', () => {
    const gapsAfter = (id: string, position: number) => {
      const log = new EventLog({ id: 'x' });
      log.append(event(1));
      const ahead = log.read(id);
      log.skipTo(position);
      for (let i = position + 1; i <= 8; i++) log.append(event(i));
      return epochsOf(ahead.take(10));
    };
    expect(gapsAfter('x-6-0', 4)).toEqual([7, 8]);
    expect(gapsAfter('x-6-0', 7)).toEqual(['gap of 1', 8]);
  });

  test('tells a slow reader of the gap, by name, and goes on after it', () => {
    const log = new EventLog({ id: 'x', capacity: 3 });
    const reader = log.read();
    for (let i = 1; i <= 5; i++) log.append(event(i));
    const [gap, ...rest] = reader.take(10);
    expect(gap).toEqual({ kind: 'gap', after: 'x-0-999999', until: 'x-2-0', missed: 2 });
    expect(epochsOf(rest)).toEqual([3, 4, 5]);
  });

  test('tells every reader of what this instance itself has missed', () => {
    const log = new EventLog({ id: 'x' });
    log.append(event(1), 1);
    const reader = log.read();
    log.skipTo(9);
    log.append(event(2), 10);
    expect(epochsOf(reader.take(10))).toEqual(['gap of 1', 2]);
    expect(() => log.read('x-1-0')).toThrowError(expect.objectContaining({ code: 'AR_ERR_EVENTS_GONE' }));
    expect(epochsOf(log.read('x-9-999999').take(10))).toEqual([2]);
  });

  test('calls back once at the next event or at the end, and not after it was told to forget', () => {
    const log = new EventLog({ id: 'x' });
    let calls = 0;
    log.onArrival(() => calls++);
    log.onArrival(() => calls++)();
    log.append(event(1));
    log.append(event(2));
    expect(calls).toBe(1);
    log.onArrival(() => calls++);
    log.close();
    expect(calls).toBe(2);
  });

  test('loses nothing between a reader and one that comes back with the last id seen, wherever it left', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 59 }),
        (steps, capacity, leaveAt) => {
          const log = new EventLog({ id: 'x', capacity });
          const reader = log.read();
          const seen: ReadEvent[] = [];
          let position = 1;
          let lastId = log.lastId;
          for (const [i, step] of steps.entries()) {
            position += step;
            log.append(event(i), position);
            if (i > leaveAt) continue;
            seen.push(...reader.take(100));
            const last = seen.at(-1);
            lastId = last?.kind === 'event' ? last.id : lastId;
          }
          if (seen.length + capacity < steps.length) return;
          seen.push(...log.read(lastId).take(100));
          expect(epochsOf(seen)).toEqual(steps.map((_, i) => i));
        },
      ),
    );
  });
});
