/**
 * Asks an agent's health endpoint, once, and never throws. The address is checked where the connection is made, on
 * the very addresses it is made to: a name that is resolved anew, or a redirect, cannot lead elsewhere.
 */
import { lookup as dnsLookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type HeartbeatStatus, heartbeatStatusSchema, type Warning } from '../contract/index.ts';
import type { Clock } from '../core/index.ts';
import type { NetworkPolicy } from './network-policy.ts';

/** A longer answer is alive too; what it says is not read. */
const MAX_BODY_BYTES = 4_096;
const NOT_ALLOWED = 'its address is in a network that may not be asked (registry.probeNetworks)';

export type ProbeAnswer =
  | { readonly isAnswered: true; readonly status: HeartbeatStatus | null; readonly detail: string }
  | { readonly isAnswered: false; readonly detail: string };

export interface HealthProber {
  /** One GET; resolves within the time limit, never rejects. An aborted one counts as not answered. */
  probe(url: string, signal: AbortSignal): Promise<ProbeAnswer>;
  /** What speaks against a health endpoint before anything is sent: a refusal, a warning, or nothing. */
  review(url: string): Promise<{ readonly refusal?: string; readonly warning?: Warning }>;
}

/** All addresses of a name, at least one. */
export type Resolve = (hostname: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export interface HttpHealthProberParts {
  readonly clock: Clock;
  readonly policy: NetworkPolicy;
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
}

class NotAllowed extends Error {}

export class HttpHealthProber implements HealthProber {
  readonly #parts: HttpHealthProberParts;
  readonly #resolve: Resolve;

  constructor(parts: HttpHealthProberParts) {
    this.#parts = parts;
    this.#resolve = parts.resolve ?? ((hostname) => dnsLookup(hostname, { all: true }));
  }

  async probe(url: string, signal: AbortSignal): Promise<ProbeAnswer> {
    try {
      return await this.#ask(url, signal);
    } catch (error) {
      return { isAnswered: false, detail: failureText(error as NodeJS.ErrnoException) };
    }
  }

  #ask(url: string, signal: AbortSignal): Promise<ProbeAnswer> {
    const { clock, policy, timeoutMs } = this.#parts;
    const { protocol, hostname } = new URL(url);
    const host = bareHost(hostname);
    // Addresses are connected to without a lookup.
    if (isIP(host) !== 0 && !policy.isAllowed(host)) return Promise.resolve({ isAnswered: false, detail: NOT_ALLOWED });
    return new Promise((resolve) => {
      const settle = (answer: ProbeAnswer): void => {
        cancel();
        resolve(answer);
        sent.destroy();
      };
      const sent = (protocol === 'https:' ? httpsRequest : httpRequest)(
        url,
        {
          agent: false,
          signal,
          lookup: this.#lookup,
          headers: { accept: 'application/json', 'user-agent': 'agent-reach' },
        },
        (response) => {
          response.on('error', (error) => settle({ isAnswered: false, detail: failureText(error) }));
          readAnswer(response, settle);
        },
      );
      const cancel = clock.schedule(timeoutMs, () =>
        settle({ isAnswered: false, detail: `no answer within ${timeoutMs} ms` }),
      );
      sent.on('error', (error) => settle({ isAnswered: false, detail: failureText(error) }));
      sent.end();
    });
  }

  async review(url: string): Promise<{ refusal?: string; warning?: Warning }> {
    const host = bareHost(new URL(url).hostname);
    const isRefused = (address: string): boolean => !this.#parts.policy.isAllowed(address);
    if (isIP(host) !== 0) return isRefused(host) ? { refusal: NOT_ALLOWED } : {};
    try {
      const found = await this.#resolveInTime(host);
      return found.some(({ address }) => isRefused(address)) ? { refusal: NOT_ALLOWED } : {};
    } catch {
      const message = 'the host of the health endpoint has no address yet; it is asked again with each probe';
      return { warning: { code: 'health_endpoint_unresolved', message } };
    }
  }

  #resolveInTime(host: string): ReturnType<Resolve> {
    const { clock, timeoutMs } = this.#parts;
    return new Promise((resolve, reject) => {
      const cancel = clock.schedule(timeoutMs, () => reject(new Error('not resolved in time')));
      this.#resolve(host).then(resolve, reject).finally(cancel);
    });
  }

  /** One refused address refuses the name: else the order of its addresses would decide. */
  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    const answer = async (): Promise<void> => {
      const found = await this.#resolve(hostname);
      const [first] = found;
      if (first === undefined) throw new Error('no address');
      if (found.some(({ address }) => !this.#parts.policy.isAllowed(address))) throw new NotAllowed(NOT_ALLOWED);
      if (options.all === true) callback(null, [...found]);
      else callback(null, first.address, first.family);
    };
    answer().catch((error: NodeJS.ErrnoException) => callback(error, '', 0));
  };
}

const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

function readAnswer(response: IncomingMessage, settle: (answer: ProbeAnswer) => void): void {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) {
    const note = status >= 300 && status < 400 ? ': redirects are not followed' : '';
    settle({ isAnswered: false, detail: `answered ${status}${note}` });
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else settle({ isAnswered: true, status: null, detail: `answered ${status}` });
  });
  response.on('end', () => settle({ isAnswered: true, status: statusIn(chunks), detail: `answered ${status}` }));
  response.on('aborted', () => settle({ isAnswered: false, detail: 'the connection broke' }));
}

/** The agent's own word, where the body is JSON with a `status` that we know. */
function statusIn(chunks: readonly Buffer[]): HeartbeatStatus | null {
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const said = typeof value === 'object' && value !== null && 'status' in value ? value.status : null;
    return heartbeatStatusSchema.safeParse(said).data ?? null;
  } catch {
    return null;
  }
}

/** Without addresses or URLs: this is shown to whoever may list agents. */
function failureText(error: NodeJS.ErrnoException): string {
  if (error instanceof NotAllowed) return NOT_ALLOWED;
  if (error.code === 'ECONNREFUSED') return 'connection refused';
  return error.code === undefined ? 'failed' : `failed (${error.code})`;
}
