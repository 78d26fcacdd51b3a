import { randomBytes } from 'node:crypto';

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type AgentId = Brand<string, 'AgentId'>;
export type LeaseId = Brand<string, 'LeaseId'>;
export type RequestId = Brand<string, 'RequestId'>;
/** `domain.action.object`, checked by capability/capability-name.ts. */
export type CapabilityName = Brand<string, 'CapabilityName'>;
/** SHA-256 of an embedded text, hex, first 32 digits. */
export type ContentHash = Brand<string, 'ContentHash'>;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** 16 letters of Crockford base 32: 80 random bits. */
function randomToken(): string {
  let token = '';
  for (const byte of randomBytes(16)) token += ALPHABET[byte & 31];
  return token;
}

export const newLeaseId = (): LeaseId => `lease_${randomToken()}` as LeaseId;

let requestCount = 0;
const processTag = randomToken().slice(0, 8);
/** Unique per process by a counter: cheaper than random bits on every request. */
export const newRequestId = (): RequestId => {
  requestCount = (requestCount + 1) % Number.MAX_SAFE_INTEGER;
  return `req_${processTag}${requestCount.toString(36)}` as RequestId;
};
