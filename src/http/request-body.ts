/**
 * A request body as a JSON value, or a coded refusal: never more than `limitBytes` are kept, whatever
 * Content-Length says. Depth is checked on the text: JSON.parse itself takes thousands of levels, and what walks
 * the value later (schemas, writers) must not be the one to find out.
 */
import { isUtf8 } from 'node:buffer';
import { IncomingMessage } from 'node:http';
import { AgentReachError, isWellFormedText } from '../core/index.ts';
import type { ReadHeader } from './api-keys.ts';

export const MAX_JSON_DEPTH = 64;
const BYTE_ORDER_MARK = 0xfeff;
const UNUSABLE_NAME = '__proto__';
const JSON_TYPE = /^application\/json *(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

export interface BodyRules {
  readonly limitBytes: number;
  /** What an absent body means; undefined: a body is needed. */
  readonly emptyValue?: unknown;
}

/** A body comes from Node's request, or from a `Request` where the app is called without a server. */
export type BodySource = IncomingMessage | Request;

/** Errors: AR_ERR_UNSUPPORTED_MEDIA_TYPE, AR_ERR_BODY_TOO_LARGE, AR_ERR_MALFORMED_JSON, AR_ERR_INVALID_REQUEST. */
export async function readJsonBody(source: BodySource, header: ReadHeader, rules: BodyRules): Promise<unknown> {
  const { limitBytes, emptyValue } = rules;
  const length = header('content-length');
  const type = header('content-type');
  const isJson = type === 'application/json' || (type !== undefined && JSON_TYPE.test(type));
  // Without a length only reading tells whether there is a body at all, so the type is judged after it.
  if (length !== undefined && length !== '0' && !isJson) throw wrongType();
  if ((header('content-encoding') ?? 'identity') !== 'identity') throw encoded();
  if (length !== undefined && !(Number(length) <= limitBytes)) throw tooLarge(limitBytes);
  const bytes = await readBytes(source, limitBytes);
  if (bytes.length === 0 && emptyValue !== undefined) return emptyValue;
  if (!isJson) throw wrongType();
  return parseJson(bytes);
}

function readBytes(source: BodySource, limitBytes: number): Promise<Buffer> {
  return source instanceof IncomingMessage ? readIncoming(source, limitBytes) : readStream(source.body, limitBytes);
}

/** Listeners instead of a `Request`: one copy less on the hot route. What is left unread the server drains. */
function readIncoming(incoming: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let total = 0;
    const leave = (): void => {
      incoming.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut);
    };
    const onData = (chunk: Buffer): void => {
      total += chunk.length;
      chunks.push(chunk);
      if (total <= limitBytes) return;
      leave();
      incoming.pause();
      reject(tooLarge(limitBytes));
    };
    const onEnd = (): void => {
      leave();
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, total));
    };
    const onCut = (cause: unknown): void => {
      leave();
      reject(cutBody(cause));
    };
    incoming.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut);
  });
}

async function readStream(body: ReadableStream<Uint8Array> | null, limitBytes: number): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw cutBody(cause);
    });
    if (done) return Buffer.concat(chunks, total);
    total += value.byteLength;
    if (total > limitBytes) {
      reader.releaseLock();
      throw tooLarge(limitBytes);
    }
    chunks.push(value);
  }
}

function wrongType(): AgentReachError {
  return new AgentReachError('AR_ERR_UNSUPPORTED_MEDIA_TYPE', { detail: 'send content-type: application/json' });
}

function encoded(): AgentReachError {
  return new AgentReachError('AR_ERR_UNSUPPORTED_MEDIA_TYPE', { detail: 'send the body without content-encoding' });
}

function cutBody(cause: unknown): AgentReachError {
  return new AgentReachError('AR_ERR_MALFORMED_JSON', { detail: 'the body ended before it was whole', cause });
}

function emptyBody(): AgentReachError {
  return new AgentReachError('AR_ERR_MALFORMED_JSON', { detail: 'the body is empty' });
}

function tooLarge(limitBytes: number): AgentReachError {
  return new AgentReachError('AR_ERR_BODY_TOO_LARGE', { detail: `the body may hold at most ${limitBytes} bytes` });
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new AgentReachError('AR_ERR_MALFORMED_JSON', { detail: 'the body is not valid UTF-8' });
  const text = bytes.toString('utf8');
  // Some editors put a byte order mark first; RFC 8259 lets a reader pass over it.
  const json = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  if (json.trim() === '') throw emptyBody();
  if (json.length > MAX_JSON_DEPTH) assertShallow(json);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The engine's message quotes the body, so it is not passed on.
    throw new AgentReachError('AR_ERR_MALFORMED_JSON');
  }
  // Valid UTF-8 holds no lone surrogate; only an escape can bring one, and only an escape can hide a name.
  if (json.includes('\\u') || json.includes(UNUSABLE_NAME)) assertUsable(value, '');
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

/**
 * A lone surrogate cannot be stored as UTF-8 and come back, and `__proto__` is lost wherever an object is copied name
 * by name; free-form values are not seen by any other check.
 */
function assertUsable(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (isWellFormedText(value)) return;
    throw unusable(path, 'holds a lone surrogate, which is not a character');
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    assertUsable(key, path);
    if (key === UNUSABLE_NAME) throw unusable(path === '' ? key : `${path}.${key}`, 'is not a usable name');
    assertUsable(one, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
  }
}

function unusable(path: string, message: string): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_REQUEST', {
    detail: `${path === '' ? 'request' : path}: ${message}`,
    issues: [{ path, message }],
  });
}
