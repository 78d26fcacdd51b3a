/** Examples of the change feed for the OpenAPI document. A test parses each with its schema. */
export const FEED_EVENT = {
  id: '7m3k0c9w-42-0',
  type: 'agent.state_changed',
  at: '2026-01-01T00:00:30.000Z',
  epoch: 42,
  namespace: 'default',
  agentId: 'weather-1',
  incarnation: 1,
  revision: 2,
  from: 'online',
  to: 'offline',
  why: 'lease_lapsed',
} as const;

export const FEED_EVENTS = `id: 7m3k0c9w-41-0
event: ready
data: {"id":"7m3k0c9w-41-0","epoch":41}

id: ${FEED_EVENT.id}
event: ${FEED_EVENT.type}
data: ${JSON.stringify(FEED_EVENT)}

: quiet
id: 7m3k0c9w-57-0
`;
