/**
 * Who is asking. Keys are kept as SHA-256 only; a presented key is hashed and compared with every kept hash in
 * constant time, so that neither a key nor its place in the list can be learnt from the time taken.
 *
 * With no keys at all the service answers everybody as the operator. That is allowed on loopback only, and browsers
 * are kept out there: a page on another site could otherwise post to 127.0.0.1 or rebind its own name to it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { AgentReachError, isLoopbackHost } from '../core/index.ts';

export interface ApiKey {
  /** For people and for `by` in histories; never secret. */
  readonly id: string;
  /** SHA-256 of the key, 64 hex digits. */
  readonly sha256: string;
  /** `route`, `register`, `operate`, `*` (all), or free words that rules ask for with `requireScope`. */
  readonly scopes: readonly string[];
}

export interface Identity {
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
}

interface KnownKey {
  readonly hash: Buffer;
  readonly identity: Identity;
}

const LOCAL: Identity = { keyId: 'local', scopes: new Set(['*']) };
/** Longer than any key; a header of megabytes is not hashed. */
const MAX_KEY_LENGTH = 512;
const BEARER = /^Bearer +([^ ]+) *$/i;
const LOOPBACK_HOST = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

export type ReadHeader = (name: string) => string | undefined;
export type Authenticate = (header: ReadHeader) => Identity;

/** Errors: AR_ERR_UNAUTHENTICATED, AR_ERR_FORBIDDEN (a browser page of another site while no key is needed). */
export function createAuthenticator(keys: readonly ApiKey[], boundTo: string): Authenticate {
  if (keys.length > 0) {
    const known = keys.map(readKey);
    return (header) => identify(header, known);
  }
  if (isLoopbackHost(boundTo)) return identifyLocal;
  throw new AgentReachError('AR_ERR_INVALID_CONFIG', {
    detail: `without API keys the service binds to loopback only, not to "${boundTo}"`,
  });
}

function readKey(key: ApiKey): KnownKey {
  const hash = Buffer.from(key.sha256, 'hex');
  if (hash.length !== 32) {
    throw new AgentReachError('AR_ERR_INVALID_CONFIG', { detail: `API key "${key.id}": sha256 must be 64 hex digits` });
  }
  return { hash, identity: { keyId: key.id, scopes: new Set(key.scopes) } };
}

function identify(header: ReadHeader, known: readonly KnownKey[]): Identity {
  const presented = presentedKey(header);
  if (presented === undefined) {
    throw new AgentReachError('AR_ERR_UNAUTHENTICATED', {
      detail: 'send an API key as "Authorization: Bearer KEY" or "X-API-Key: KEY"',
    });
  }
  const hash = createHash('sha256').update(presented).digest();
  let found: Identity | undefined;
  for (const key of known) if (timingSafeEqual(hash, key.hash)) found = key.identity;
  if (found !== undefined) return found;
  throw new AgentReachError('AR_ERR_UNAUTHENTICATED', { detail: 'the API key is not known' });
}

function presentedKey(header: ReadHeader): string | undefined {
  const authorization = header('authorization');
  const key = authorization === undefined ? header('x-api-key') : BEARER.exec(authorization)?.[1];
  return key === undefined || key === '' || key.length > MAX_KEY_LENGTH ? undefined : key;
}

function identifyLocal(header: ReadHeader): Identity {
  const host = header('host');
  const origin = header('origin');
  const isLocal =
    (host === undefined || LOOPBACK_HOST.test(host)) &&
    (origin === undefined || LOOPBACK_HOST.test(origin.replace(/^https?:\/\//i, '')));
  if (isLocal) return LOCAL;
  throw new AgentReachError('AR_ERR_FORBIDDEN', {
    detail: 'no API key is configured, so only this machine may ask, by a loopback name and from no other web page',
  });
}

/** What an endpoint asks of its caller; `open` asks nothing, `key` any known key. */
export type Access = 'open' | 'key' | 'route' | 'register' | 'operate';

export function assertScope(identity: Identity, access: Access): void {
  if (access === 'open' || access === 'key') return;
  if (identity.scopes.has(access) || identity.scopes.has('*')) return;
  throw new AgentReachError('AR_ERR_FORBIDDEN', {
    detail: `API key "${identity.keyId}" lacks the scope "${access}"`,
  });
}
