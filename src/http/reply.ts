/**
 * What a handler answers: plain values, made into one Response with all its headers at the end. Changing the
 * headers of a finished Response costs a rebuild of it (+55-75 us), so nothing ever does.
 */
export type ReplyHeaders = Readonly<Record<string, string>>;

export interface Reply {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  readonly contentType: string | null;
  readonly headers?: ReplyHeaders;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export function jsonReply(status: number, value: unknown, headers?: ReplyHeaders): Reply {
  const reply: Reply = { status, body: JSON.stringify(value), contentType: JSON_TYPE };
  return headers === undefined ? reply : { ...reply, headers };
}

export function emptyReply(status: number): Reply {
  return { status, body: null, contentType: null };
}

export function toResponse(reply: Reply, requestId: string): Response {
  const headers: Record<string, string> = { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' };
  if (reply.contentType !== null) headers['content-type'] = reply.contentType;
  if (reply.headers !== undefined) Object.assign(headers, reply.headers);
  return new Response(reply.body, { status: reply.status, headers });
}
