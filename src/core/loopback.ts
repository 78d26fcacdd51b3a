/** Which addresses only this machine can reach. One rule for what the service binds to and for what it asks of keys. */
import { BlockList, isIP } from 'node:net';

export const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1/128'] as const;

const LOOPBACK = new BlockList();
for (const network of LOOPBACK_NETWORKS) {
  const [address = '', bits] = network.split('/');
  LOOPBACK.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** A host name or an address, with or without brackets. Names other than `localhost` may lead anywhere. */
export function isLoopbackHost(host: string): boolean {
  const bare = /^\[(.*)\]$/.exec(host)?.[1] ?? host;
  const family = isIP(bare);
  if (family === 0) return bare.toLowerCase() === 'localhost';
  const inner = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(bare)?.[1];
  if (inner !== undefined) return LOOPBACK.check(inner, 'ipv4');
  return LOOPBACK.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}
