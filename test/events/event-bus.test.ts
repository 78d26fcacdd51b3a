import { expect, test } from 'vitest';
import { subscribe } from '../../src/core/index.ts';
import { EventBus, type RegistryEvent } from '../../src/events/index.ts';

const event: RegistryEvent = {
  type: 'agent.registered',
  at: 1,
  epoch: 1,
  agentId: 'a',
  namespace: 'default',
  incarnation: 1,
  revision: 1,
};

test('tells every listener in order of subscription', () => {
  const bus = new EventBus();
  const heard: string[] = [];
  bus.subscribe((e) => heard.push(`1 ${e.type}`));
  bus.subscribe((e) => heard.push(`2 ${e.type}`));
  bus.publish(event);
  expect(heard).toEqual(['1 agent.registered', '2 agent.registered']);
});

test('goes on after a listener that throws, and logs it', () => {
  const bus = new EventBus();
  const logged: string[] = [];
  const stop = subscribe('log', (line) => logged.push(line.level));
  let heard = 0;
  bus.subscribe(() => {
    throw new Error('broken listener');
  });
  bus.subscribe(() => {
    heard += 1;
  });
  bus.publish(event);
  stop();
  expect(heard).toBe(1);
  expect(logged).toEqual(['error']);
});

test('stops telling a listener that left, even while an event is being told', () => {
  const bus = new EventBus();
  const heard: string[] = [];
  const leave = bus.subscribe(() => {
    heard.push('first');
    leave();
    leave();
  });
  bus.subscribe(() => heard.push('second'));
  bus.publish(event);
  bus.publish(event);
  expect(heard).toEqual(['first', 'second', 'second']);
});

test('keeps one of two subscriptions of the same function when the other ends', () => {
  const bus = new EventBus();
  let heard = 0;
  const listener = (): void => {
    heard += 1;
  };
  const leave = bus.subscribe(listener);
  bus.subscribe(listener);
  leave();
  bus.publish(event);
  expect(heard).toBe(1);
});
