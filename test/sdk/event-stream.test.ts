import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEventStream, type StreamEvent } from '../../src/sdk/event-stream.ts';

async function eventsOf(chunks: readonly Uint8Array[]): Promise<StreamEvent[]> {
  async function* source() {
    yield* chunks;
  }
  const events: StreamEvent[] = [];
  for await (const event of readEventStream(source())) events.push(event);
  return events;
}

const encoder = new TextEncoder();
const TEXT =
  ': hello\nevent: progress\r\nid: 1\r\ndata: {"a":"杭州"}\r\n\r\ndata: one\rdata:two\r\rdata\n\nevent: done\ndata: cut';

describe('readEventStream', () => {
  it('reads names, several data lines and every line end, and drops what the end cuts off', async () => {
    expect(await eventsOf([encoder.encode(TEXT)])).toEqual([
      { event: 'progress', data: '{"a":"杭州"}', id: '1' },
      { event: 'message', data: 'one\ntwo', id: undefined },
      { event: 'message', data: '', id: undefined },
    ]);
  });

  it('tells of an id that comes without an event', async () => {
    const text = ': quiet\nid: 7\n\n: quiet\n\nevent: none\n\ndata: x\n\n';
    expect(await eventsOf([encoder.encode(text)])).toEqual([
      { event: 'message', data: undefined, id: '7' },
      { event: 'message', data: 'x', id: undefined },
    ]);
  });

  it('reads the same wherever the chunks are cut', async () => {
    const bytes = encoder.encode(TEXT);
    const whole = await eventsOf([bytes]);
    const cuts = fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const sorted = [0, ...places.sort((left, right) => left - right), bytes.length];
        const chunks = sorted.slice(1).map((end, at) => bytes.slice(sorted[at], end));
        expect(await eventsOf(chunks)).toEqual(whole);
      }),
    );
  });
});
