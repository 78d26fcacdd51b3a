import { describe, expect, it } from 'vitest';
import {
  MAX_METADATA_BYTES,
  metadataField,
  readOlderHeartbeat,
  readOlderRegistration,
} from '../../src/contract/index.ts';

describe('older spellings', () => {
  it('turns the names of before into those of today', () => {
    expect(readOlderRegistration({ agent_id: 'a', heartbeat_interval: 2, endpoints: { http: 'http://h' } })).toEqual({
      agentId: 'a',
      heartbeatIntervalMs: 2_000,
      transport: { type: 'http', endpoint: 'http://h' },
    });
    expect(readOlderHeartbeat({ lease_id: 'l', avg_latency_ms: 3 })).toEqual({ leaseId: 'l', avgLatencyMs: 3 });
  });

  it('leaves a field given in two spellings for the schema to refuse', () => {
    const twice = { agent_id: 'a', agentId: 'b' };
    expect(readOlderRegistration(twice)).toEqual(twice);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])('takes no %s for a field of before', (name) => {
    expect(readOlderHeartbeat({ [name]: 1 })).toEqual({ [name]: 1 });
  });
});

describe('metadata', () => {
  it('is measured in bytes, not in characters', () => {
    const room = MAX_METADATA_BYTES - Buffer.byteLength('{"note":""}');
    expect(metadataField.safeParse({ note: 'a'.repeat(room) }).success).toBe(true);
    expect(metadataField.safeParse({ note: 'a'.repeat(room + 1) }).success).toBe(false);
    expect(metadataField.safeParse({ note: '长'.repeat(Math.floor(room / 3)) }).success).toBe(true);
    expect(metadataField.safeParse({ note: '长'.repeat(Math.ceil(room / 3) + 1) }).success).toBe(false);
  });
});
