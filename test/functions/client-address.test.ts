import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalAddress, clientAddress, clientNetwork } from '../../functions/http/client-address.ts';
import { anyCharacter } from '../support/any-character.ts';

const behindOne = (entry: string) => clientAddress('192.0.2.1', entry, 1);

describe('T11 an address in X-Forwarded-For is one address however it is written', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:1', '198.51.100.7'],
    ['198.51.100.7:65535', '198.51.100.7'],
    ['"198.51.100.7:80"', '198.51.100.7'],
    ['198.051.100.007', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::FFFF:c633:6407', '198.51.100.7'],
    ['0:0:0:0:0:ffff:c633:6407', '198.51.100.7'],
    ['[::ffff:198.51.100.7]:443', '198.51.100.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['2001:db8:0:0::0.0.0.1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:51234', '2001:db8::1'],
    ['"[2001:db8::1]:51234"', '2001:db8::1'],
    ['2001:db8::1%eth0', '2001:db8::1'],
  ])('%s is %s', (written, expected) => {
    expect(behindOne(written)).toBe(expected);
    expect(behindOne(`6.6.6.6, ${written}`)).toBe(expected);
    expect(clientNetwork(written)).toBe(clientNetwork(expected));
  });

  it.each([
    '',
    'unknown',
    '_hidden',
    '256.1.1.1',
    '1.2.3',
    '1.2.3.4:',
    '1.2.3.4:123456',
    '1.2.3.4:80:80',
    '0x7f.0.0.1',
    '2130706433',
    '[::1',
    '::1]',
    ':::',
    '2001:db8::1::2',
    '1:2:3:4:5:6:7:8:9',
    '[evil.example]',
    '[::1]@x',
    '[::1]/',
    `${'0'.repeat(60)}::1`,
    'é',
  ])('%j is none, and the client is the peer', (written) => {
    expect(canonicalAddress(written)).toBeUndefined();
    expect(behindOne(written)).toBe('192.0.2.1');
  });

  it('any text is answered with an address, and naming it again changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.string({ unit: anyCharacter })), (text) => {
        const address = behindOne(text);
        expect(canonicalAddress(address)).toBe(address);
      }),
    );
  });
});

describe('T4 a network of IPv6 addresses is one client', () => {
  it('by /64, /56 and /48', () => {
    const networks = (address: string) => ([64, 56, 48] as const).map((prefix) => clientNetwork(address, prefix));
    const [subscriber, home, site] = networks('2001:db8:1:ab01::1');
    expect(networks('2001:db8:1:ab01:ffff:ffff:ffff:ffff')).toEqual([subscriber, home, site]);
    expect(networks('2001:db8:1:ab02::1')).toEqual([expect.not.stringMatching(`^${subscriber}$`), home, site]);
    expect(networks('2001:db8:1:ac01::1')[1]).not.toBe(home);
    expect(networks('2001:db8:1:ac01::1')[2]).toBe(site);
    expect(networks('2001:db8:2:ab01::1')[2]).not.toBe(site);
    // Short groups keep their place.
    expect(networks('2001:db8:1:1::1')[1]).toBe(networks('2001:db8:1:2::1')[1]);
    expect(networks('2001:db8:1:1::1')[1]).not.toBe(networks('2001:db8:1:100::1')[1]);
  });

  it('an IPv4 address is a network by itself', () => {
    expect(([64, 56, 48] as const).map((prefix) => clientNetwork('198.51.100.7', prefix))).toEqual([
      '198.51.100.7',
      '198.51.100.7',
      '198.51.100.7',
    ]);
  });
});
