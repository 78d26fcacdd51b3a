import { describe, expect, it } from 'vitest';
import { eventStream, type FinalEvent } from '../../src/http/event-stream.ts';

type Report = (event: string, data: unknown) => void;

function held(): {
  work: (report: Report) => Promise<FinalEvent>;
  report: Report;
  finish: (event: FinalEvent) => void;
} {
  let report: Report = () => undefined;
  let finish: (event: FinalEvent) => void = () => undefined;
  const done = new Promise<FinalEvent>((resolve) => {
    finish = resolve;
  });
  const work = (given: Report) => {
    report = given;
    return done;
  };
  return { work, report: (event, data) => report(event, data), finish: (event) => finish(event) };
}

const textOf = async (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();

describe('eventStream', () => {
  it('drops progress beyond what it keeps for a slow reader, and never the last event', async () => {
    const { work, report, finish } = held();
    const stream = eventStream(work);
    for (let done = 0; done < 1_000; done++) report('progress', { done });
    finish({ event: 'done', data: { version: 'v000002' } });
    const events = (await textOf(stream)).split('\n\n').filter((one) => one !== '');
    expect(events).toHaveLength(65);
    expect(events[0]).toBe('event: progress\ndata: {"done":0}');
    expect(events.at(-1)).toBe('event: done\ndata: {"version":"v000002"}');
  });

  it('keeps line breaks in texts inside one data line', async () => {
    const { work, finish } = held();
    const stream = eventStream(work);
    finish({ event: 'error', data: 'a\n\nevent: done' });
    expect(await textOf(stream)).toBe('event: error\ndata: "a\\n\\nevent: done"\n\n');
  });

  it('is quiet after its reader left', async () => {
    const { work, report, finish } = held();
    const stream = eventStream(work);
    await stream.cancel();
    report('progress', {});
    finish({ event: 'done', data: {} });
    // An event put into a closed stream would surface as an unhandled rejection.
    expect(await stream.getReader().read()).toMatchObject({ done: true });
  });
});
