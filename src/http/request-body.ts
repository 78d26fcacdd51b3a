/**
 * A request body as a JSON value, or a coded refusal: never more than `limitBytes` are kept, whatever
 * Content-Length says. Depth is checked on the text: JSON.parse itself takes thousands of levels, and what walks
 * the value later (schemas, writers) must not be the one to find out.
 */
import { isUtf8 } from 'node:buffer';
import { AgentReachError, isWellFormedText } from '../core/index.ts';

export const MAX_JSON_DEPTH = 64;
const JSON_TYPE = /^application\/json *(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

export interface BodyRules {
  readonly limitBytes: number;
  /** What an absent body means; undefined: a body is needed. */
  readonly emptyValue?: unknown;
}

/** Errors: AR_ERR_UNSUPPORTED_MEDIA_TYPE, AR_ERR_BODY_TOO_LARGE, AR_ERR_MALFORMED_JSON, AR_ERR_INVALID_REQUEST. */
export async function readJsonBody(request: Request, rules: BodyRules): Promise<unknown> {
  const length = request.headers.get('content-length');
  // Without a length only reading tells whether there is a body at all.
  const streamed = length === null ? await readStream(request.body, rules.limitBytes) : undefined;
  const isEmpty = length === '0' || streamed?.length === 0;
  if (isEmpty && rules.emptyValue !== undefined) return rules.emptyValue;
  const type = request.headers.get('content-type');
  if (type !== 'application/json' && (type === null || !JSON_TYPE.test(type))) {
    throw new AgentReachError('AR_ERR_UNSUPPORTED_MEDIA_TYPE', { detail: 'send content-type: application/json' });
  }
  if (isEmpty) throw emptyBody();
  return parseJson(streamed ?? (await readSized(request, Number(length), rules.limitBytes)));
}

/** The HTTP parser hands out exactly Content-Length bytes, so a length within the limit needs no counting. */
async function readSized(request: Request, length: number, limitBytes: number): Promise<Buffer> {
  if (!(length <= limitBytes)) throw tooLarge(limitBytes);
  const bytes = Buffer.from(await request.arrayBuffer().catch(refuseCutBody));
  if (bytes.length > limitBytes) throw tooLarge(limitBytes);
  return bytes;
}

async function readStream(body: ReadableStream<Uint8Array> | null, limitBytes: number): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(refuseCutBody);
    if (done) return Buffer.concat(chunks, total);
    total += value.byteLength;
    if (total > limitBytes) {
      reader.releaseLock();
      throw tooLarge(limitBytes);
    }
    chunks.push(value);
  }
}

function emptyBody(): AgentReachError {
  return new AgentReachError('AR_ERR_MALFORMED_JSON', { detail: 'the body is empty' });
}

function refuseCutBody(cause: unknown): never {
  throw new AgentReachError('AR_ERR_MALFORMED_JSON', { detail: 'the body ended before it was whole', cause });
}

function tooLarge(limitBytes: number): AgentReachError {
  return new AgentReachError('AR_ERR_BODY_TOO_LARGE', { detail: `the body may hold at most ${limitBytes} bytes` });
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new AgentReachError('AR_ERR_MALFORMED_JSON', { detail: 'the body is not valid UTF-8' });
  const json = bytes.toString('utf8');
  if (json.trim() === '') throw emptyBody();
  if (json.length > MAX_JSON_DEPTH) assertShallow(json);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The engine's message quotes the body, so it is not passed on.
    throw new AgentReachError('AR_ERR_MALFORMED_JSON');
  }
  // Valid UTF-8 holds no lone surrogate; only an escape can bring one.
  if (json.includes('\\u')) assertWellFormed(value, '');
  return value;
}

function assertShallow(json: string): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (inString) {
      if (code === 92) at++;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 123 || code === 91) {
      if (++depth > MAX_JSON_DEPTH) throw tooDeep();
    } else if (code === 125 || code === 93) depth--;
  }
}

function tooDeep(): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_REQUEST', {
    detail: `the body nests more than ${MAX_JSON_DEPTH} levels deep`,
  });
}

/** A lone surrogate cannot be stored as UTF-8 and come back; free-form values are not seen by any other check. */
function assertWellFormed(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (isWellFormedText(value)) return;
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
      issues: [{ path, message: 'holds a lone surrogate, which is not a character' }],
    });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    assertWellFormed(key, path);
    assertWellFormed(one, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
  }
}
