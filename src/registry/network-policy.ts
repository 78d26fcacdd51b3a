/**
 * Which addresses the service may ask for an agent's health: public ones, and networks that the configuration names.
 * Without it an agent could have us call whatever only we can reach. An IPv4 address inside an IPv6 one counts as
 * what it is.
 */
import { BlockList, isIP } from 'node:net';
import { AgentReachError, isLoopbackHost, LOOPBACK_NETWORKS } from '../core/index.ts';

/** Everything that IANA lists as not globally reachable, and what stands for another address. */
const NOT_PUBLIC = [
  ...LOOPBACK_NETWORKS,
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  // Protocol assignments, tunnels and test ranges; the few reachable ones inside are no hosts of agents.
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const;

/** What holds where the configuration names no network: loopback, where only this machine can reach us anyway. */
export function defaultProbeNetworks(boundTo: string): readonly string[] {
  return isLoopbackHost(boundTo) ? LOOPBACK_NETWORKS : [];
}

export class NetworkPolicy {
  readonly #allowed: BlockList;
  readonly #refused: BlockList;

  /** Error: AR_ERR_INVALID_CONFIG for what is no network (`10.1.0.0/16`, `fd00::/8`, `10.1.2.3`). */
  constructor(allowed: readonly string[]) {
    this.#allowed = listOf(allowed);
    this.#refused = listOf(NOT_PUBLIC);
  }

  /** `address` without brackets; what is no address is refused. */
  isAllowed(address: string): boolean {
    const plain = address.split('%', 1)[0] ?? '';
    const family = isIP(plain);
    if (family === 0) return false;
    const inner = family === 6 ? embeddedIpv4(plain) : plain;
    const [host, kind] = inner === null ? ([plain, 'ipv6'] as const) : ([inner, 'ipv4'] as const);
    return this.#allowed.check(host, kind) || !this.#refused.check(host, kind);
  }
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const parsed = parseNetwork(network);
    if (parsed === null) {
      throw new AgentReachError('AR_ERR_INVALID_CONFIG', {
        detail: `"${network}" is no network: write 10.1.0.0/16, fd00::/8 or one address`,
      });
    }
    list.addSubnet(parsed.address, parsed.prefix, parsed.family);
  }
  return list;
}

export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== null;
}

function parseNetwork(text: string): { address: string; prefix: number; family: 'ipv4' | 'ipv6' } | null {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  const most = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (version === 0 || address.includes('%') || rest.length > 0 || prefix < 0 || prefix > most) return null;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** The eight groups of an IPv6 address, whatever its spelling. */
function groupsOf(address: string): number[] {
  // The URL parser writes dots as hexadecimal groups and shortens one run of zeros.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const numbers = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((one) => Number.parseInt(one, 16));
  const [first, last] = [numbers(head), numbers(tail ?? '')];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

/** The IPv4 address that packets to this IPv6 address end at; null where it is an IPv6 address of its own. */
function embeddedIpv4(address: string): string | null {
  const groups = groupsOf(address);
  const [a = 0, b = 0, c = 0] = groups;
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0);
  const [high = 0, low = 0] = groups.slice(6);
  const isCompatible = isZero(0, 6) && high !== 0;
  const isMapped = (isZero(0, 5) && groups[5] === 0xffff) || (isZero(0, 4) && groups[4] === 0xffff && groups[5] === 0);
  const isNat64 = a === 0x64 && b === 0xff9b && isZero(2, 6);
  if (isMapped || isNat64 || isCompatible) return dotted(high, low);
  return a === 0x2002 ? dotted(b, c) : null;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
