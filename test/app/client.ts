/** Plain HTTP to a service under test: what a caller in any language would send. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  // The change feed never ends: that it began is the answer.
  const isEndless = method === 'GET' && response.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isEndless === true ? '' : await response.text();
  if (isEndless === true) await response.body?.cancel();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

export function registration(agentId: string, capabilities: readonly unknown[], more: Record<string, unknown> = {}) {
  return { agentId, capabilities, transport: { type: 'http', endpoint: `http://127.0.0.1:9/${agentId}` }, ...more };
}

export function ask(url: string, intent: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return call(url, 'POST', '/v1/route', { intent, ...more });
}
