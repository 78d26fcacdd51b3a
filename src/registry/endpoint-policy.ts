/**
 * What an agent may give as its address. A URL is taken only in the plain form scheme://host[:port][/path][?query]:
 * whatever a URL parser would silently repair or drop is refused, since the dispatcher and an operator must read the
 * same address.
 */
import { domainToUnicode } from 'node:url';
import type { Transport, Warning } from '../contract/index.ts';
import { AgentReachError, type ErrorIssue } from '../core/index.ts';
import type { HealthProber } from './health-prober.ts';

const HTTP_SCHEMES = ['http', 'https'];
const SCHEMES_OF: Readonly<Record<Transport['type'], readonly string[] | null>> = {
  http: HTTP_SCHEMES,
  websocket: ['ws', 'wss'],
  // The endpoint of these is a label: the name of a queue, of a function.
  queue: null,
  local: null,
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
const UNPRINTABLE = /[\s\u0000-\u001f\u007f\\]/;
const CREDENTIALS = /:\/\/[^/?#]*@/;

/** Error: AR_ERR_INVALID_ENDPOINT with the paths `transport.endpoint` and `transport.healthEndpoint`. */
export function assertEndpoints(transport: Transport): void {
  const issues: ErrorIssue[] = [];
  const check = (path: string, problem: string | undefined): void => {
    if (problem !== undefined) issues.push({ path, message: problem });
  };
  if (transport.endpoint !== undefined) {
    const schemes = SCHEMES_OF[transport.type];
    const { endpoint } = transport;
    check('transport.endpoint', schemes === null ? labelProblem(endpoint) : urlProblem(endpoint, schemes));
  } else if (transport.type === 'http') {
    check('transport.endpoint', 'is needed for transport http');
  }
  if (transport.healthEndpoint !== undefined) {
    check('transport.healthEndpoint', urlProblem(transport.healthEndpoint, HTTP_SCHEMES));
  }
  const [first] = issues;
  if (first === undefined) return;
  throw new AgentReachError('AR_ERR_INVALID_ENDPOINT', { detail: `${first.path} ${first.message}`, issues });
}

/**
 * Whether the service may ask there at all: looked at now, and again whenever it asks. Answers warnings. Error:
 * AR_ERR_INVALID_ENDPOINT.
 */
export async function reviewHealthEndpoint(transport: Transport, prober: HealthProber): Promise<Warning[]> {
  if (transport.healthEndpoint === undefined) return [];
  const { refusal, warning } = await prober.review(transport.healthEndpoint);
  if (refusal === undefined) return warning === undefined ? [] : [warning];
  const path = 'transport.healthEndpoint';
  throw new AgentReachError('AR_ERR_INVALID_ENDPOINT', {
    detail: `${path}: ${refusal}`,
    issues: [{ path, message: refusal }],
  });
}

function labelProblem(label: string): string | undefined {
  if (label.trim() === '' || UNPRINTABLE.test(label)) return 'holds a space, a control character or a backslash';
  if (CREDENTIALS.test(label)) return 'holds credentials';
  return undefined;
}

/** In words that never repeat the endpoint: it may hold a password. */
function urlProblem(endpoint: string, schemes: readonly string[]): string | undefined {
  if (UNPRINTABLE.test(endpoint)) return 'holds a space, a control character or a backslash';
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(endpoint)?.[1]?.toLowerCase();
  if (scheme === undefined || !schemes.includes(scheme)) {
    return `must be a URL that starts with ${schemes.map((one) => `${one}://`).join(' or ')}`;
  }
  if (/^[^:]+:\/\/(?:[/?#]|$)/.test(endpoint)) return 'has no host';
  if (CREDENTIALS.test(endpoint)) return 'holds credentials: give them to the caller by another way';
  if (endpoint.includes('#')) return 'holds a fragment (#), which is never sent';
  if (!URL.canParse(endpoint)) return 'is not a well-formed URL';
  const { hostname } = new URL(endpoint);
  if (hostname === '') return 'has no host';
  if (!isReadAsWritten(endpoint, hostname)) return 'has a host that is read as another one than it is written';
  return undefined;
}

/** False for hosts that parsers rewrite: invisible or full-width characters, 0x7f.1, 2130706433. */
function isReadAsWritten(endpoint: string, hostname: string): boolean {
  const written = /^[^:]+:\/\/(\[[^\]]*\]|[^:/?#]*)/.exec(endpoint)?.[1]?.toLowerCase() ?? '';
  // IPv6 has many spellings, all of them plain.
  return written.startsWith('[') || written === hostname || written === domainToUnicode(hostname);
}
