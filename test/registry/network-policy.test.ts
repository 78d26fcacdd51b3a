import { describe, expect, test } from 'vitest';
import { defaultProbeNetworks, isNetwork, NetworkPolicy } from '../../src/registry/network-policy.ts';

const PUBLIC = [
  '1.1.1.1',
  '93.184.216.34',
  '172.15.0.1',
  '172.32.0.1',
  '192.169.0.1',
  '2606:4700:4700::1111',
  '2001:200::1',
  '3fff:1000::1',
];
const NOT_PUBLIC = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:a00:1',
  '::ffff:169.254.169.254',
  '::ffff:0:10.0.0.1',
  '::127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '2001::1',
  '2001:1ff:ffff::1',
  '2001:2::1',
  '2001:10::1',
  '2001:db8::1',
  '100::1',
  '100:0:0:1::1',
  '3fff:fff:ffff::1',
  '5f00::1',
  '5f00:ffff::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'fc00::1',
  'fd12:3456::1',
  'ff02::1',
];

describe('without a network named', () => {
  const policy = new NetworkPolicy([]);

  test.each(PUBLIC)('%s may be asked', (address) => {
    expect(policy.isAllowed(address)).toBe(true);
    const inner = address.includes('.') ? `::ffff:${address}` : address;
    expect(policy.isAllowed(inner)).toBe(true);
  });

  test.each(NOT_PUBLIC)('%s may not', (address) => {
    expect(policy.isAllowed(address)).toBe(false);
  });

  test.each(['', 'example', '127.1', '2130706433', '0x7f.1', '017700000001'])('%j is no address at all', (text) => {
    expect(policy.isAllowed(text)).toBe(false);
  });
});

test('a named network may be asked, in every spelling, and nothing beside it', () => {
  const policy = new NetworkPolicy(['10.1.0.0/16', '192.168.7.7', 'fd00:1::/32']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', '192.168.7.7', 'fd00:1::9', '8.8.8.8']) {
    expect(policy.isAllowed(address), address).toBe(true);
  }
  for (const address of ['10.2.0.1', '192.168.7.8', 'fd00:2::9', '127.0.0.1', '::ffff:10.2.0.1']) {
    expect(policy.isAllowed(address), address).toBe(false);
  }
});

test('loopback is asked where the service itself is on loopback, and only there', () => {
  expect(new NetworkPolicy(defaultProbeNetworks('127.0.0.1')).isAllowed('::1')).toBe(true);
  expect(new NetworkPolicy(defaultProbeNetworks('localhost')).isAllowed('127.0.0.1')).toBe(true);
  expect(new NetworkPolicy(defaultProbeNetworks('localhost')).isAllowed('10.0.0.1')).toBe(false);
  expect(defaultProbeNetworks('0.0.0.0')).toEqual([]);
});

test('takes networks and addresses, and refuses the rest by name', () => {
  for (const good of ['10.0.0.0/8', '0.0.0.0/0', '::/0', 'fd00::/8', '10.1.2.3', '::1']) {
    expect(isNetwork(good), good).toBe(true);
  }
  for (const bad of [
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/x',
    '10.0.0.0/8/8',
    'example',
    'fe80::1%eth0',
  ]) {
    expect(isNetwork(bad), bad).toBe(false);
    expect(() => new NetworkPolicy([bad])).toThrow(expect.objectContaining({ code: 'AR_ERR_INVALID_CONFIG' }));
  }
});
