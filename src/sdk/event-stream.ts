/**
 * Reads `text/event-stream`. Chunks may be cut anywhere, inside a character or a line end too; comments and retry
 * fields are passed over. An event that the end of the stream cuts off is dropped, as the standard says.
 */
export interface StreamEvent {
  readonly event: string;
  /** undefined where an id came without an event: only the place in the stream has moved. */
  readonly data: string | undefined;
  readonly id: string | undefined;
}

export async function* readEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let event = '';
  let data: string[] = [];
  let id: string | undefined;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be half of a CRLF: it waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        const isEvent = data.length > 0;
        if (isEvent || id !== undefined) {
          yield { event: event === '' ? 'message' : event, data: isEvent ? data.join('\n') : undefined, id };
        }
        event = '';
        data = [];
        id = undefined;
        continue;
      }
      const [name, value] = splitField(line);
      if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
      else if (name === 'id') id = value;
    }
  }
}

function splitField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}
