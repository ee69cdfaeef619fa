import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressRule, isPublicAddress } from '../../src/net/public-address.ts';

const special = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.1.1'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.1.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', '100::1', '2001:db8::1'],
  ...['2001::1', '2001:10::1', '2002:7f00:1::', '2002:808:808::', '3fff::1', '5f00::1', '4000::1', '64:ff9b:1::1'],
  ...['::127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.1.2.3', '0:0:0:0:0:ffff:c0a8:101'],
  ...['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b::', '[::1]', '[::ffff:169.254.169.254]'],
  ...['', 'localhost', '127.1', '0x7f000001', '2130706433', '1.2.3', '1.2.3.4.5', 'g::1'],
];
const open = [
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
  ],
  ...[
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '185.199.108.153',
    '192.0.1.1',
    '192.169.0.0',
    '198.17.255.255',
  ],
  ...[
    '198.20.0.0',
    '223.255.255.255',
    '2606:50c0:8000::153',
    '2a00:1450:4001::1',
    '2001:4860:4860::8888',
    '2001:200::1',
  ],
  ...['::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::8.8.8.8', '64:ff9b::808:808', '[2606:4700::1111]'],
];

describe('isPublicAddress', () => {
  it.each(special)('C1: %s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(open)('C1: %s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it('C1: an address mapped or translated into IPv6 counts as what it embeds', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        for (const form of [`::ffff:${address}`, `::ffff:${tail}`, `64:ff9b::${address}`, `64:ff9b::${tail}`]) {
          expect(isPublicAddress(form), form).toBe(isPublicAddress(address));
        }
      }),
    );
  });
});

describe('createAddressRule', () => {
  it('C1: allows the listed networks beside public addresses, and no others', () => {
    const isAllowed = createAddressRule(['127.0.0.1', '10.1.0.0/16', 'fd00::/8']);
    for (const address of ['127.0.0.1', '10.1.2.3', 'fd12::1', '[fd12::1]', '8.8.8.8']) {
      expect(isAllowed(address, ''), address).toBe(true);
    }
    for (const address of ['127.0.0.2', '10.2.0.1', 'fc00::1', '::1', 'fe80::1%lo', 'example.com', '']) {
      expect(isAllowed(address, ''), address).toBe(false);
    }
  });

  it('refuses a network that cannot be read', () => {
    for (const network of ['example.com', '10.0.0.0/x', '10.0.0.0/40', '']) {
      expect(() => createAddressRule([network]), network).toThrow(RangeError);
    }
  });
});

it('C1: an address that is allowed by itself allows no other', () => {
  const isAllowed = createAddressRule(['fd00::1', '10.0.0.1', 'fd01::/16']);
  const asked = ['fd00::1', 'fd00::2', '10.0.0.1', '10.0.0.2', 'fd01:2::3', 'fd02::1'];
  expect(asked.map((address) => isAllowed(address, ''))).toEqual([true, false, true, false, true, false]);
});

describe('a host that the operator names', () => {
  const inside = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1', '[::ffff:10.0.0.1]'];

  it.each(['index.example', 'INDEX.example.', '93.184.215.14', '[2606:2800::1]'])(
    'C1: may be anywhere, and leads to public addresses alone: %s',
    (host) => {
      const isAllowed = createAddressRule({ host });
      for (const address of inside) {
        expect(isAllowed(address, host.toLowerCase()), address).toBe(true);
        expect(isAllowed(address, address), address).toBe(false);
        for (const other of ['other.example', 'a.index.example', 'localhost', 'metadata.google.internal', 'index']) {
          expect(isAllowed(address, other), other).toBe(false);
        }
      }
      expect(isAllowed('8.8.8.8', 'other.example')).toBe(true);
    },
  );

  it.each([
    'index',
    'localhost',
    'index.local',
    'index.corp.internal',
    'nas.home.arpa',
    '127.0.0.1',
    '[fd00::1]',
    '10.0.0.1',
  ])("leads anywhere where its own name is one of the operator's network: %s", (host) => {
    const isAllowed = createAddressRule({ host });
    for (const address of inside) expect(isAllowed(address, 'other.example'), address).toBe(true);
  });
});
