import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { webUrl, writtenWebUrl } from '../../src/apt/urls.ts';
import { isUrl } from '../clients/decoding.ts';
import { anyCharacter } from '../support/any-character.ts';

// Package managers refuse a whole answer for one address that their parser refuses.
describe('web URLs that strangers write', () => {
  it.each([
    ['https://a.example/icon.png', 'https://a.example/icon.png'],
    ['HTTP://A.example:80/X', 'http://a.example/X'],
    ['https://a.example/my icon.png', 'https://a.example/my%20icon.png'],
    ['https://a.example/图.png', 'https://a.example/%E5%9B%BE.png'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['https://a.example/100%', 'https://a.example/100%25'],
    ['https://a.example/?a[]={b}|c', 'https://a.example/?a%5B%5D=%7Bb%7D%7Cc'],
    ['https://a.example/#a#b#c', 'https://a.example/#a%23b%23c'],
    ['https://[2001:DB8::1]:8443/x', 'https://[2001:db8::1]:8443/x'],
  ])('%s is written %s', (text, written) => {
    expect(webUrl(text)).toBe(written);
    expect(isUrl(written)).toBe(true);
  });

  it.each(['', ' ', 'icon.png', '//a.example/', 'https:a.example', 'https:///a', 'file:///a', 'javascript:alert(1)'])(
    '%j is none',
    (text) => expect(webUrl(text)).toBeNull(),
  );

  it.each(['https://a{b}.example/', 'https://a"b.example/', 'https://a`b.example/', 'https://user@a.example/'])(
    '%s is none, because strict parsers refuse its host or it tells a name',
    (text) => expect(webUrl(text)).toBeNull(),
  );

  it('are null or what a strict parser takes, whatever was written', () => {
    const piece = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 8 }),
      fc.constantFrom('/', '?', '#', '%', '[', ']', '{', '\\', '"', ' ', ':', '@', 'é', '%zz', '..', '🎉', '|', "'"),
    );
    fc.assert(
      fc.property(fc.constantFrom('http://', 'HTTPS://a.example', 'https://a/'), fc.array(piece), (start, pieces) => {
        const text = start + pieces.join('');
        const url = webUrl(text);
        expect(url === null || isUrl(url), `${url}`).toBe(true);
        const written = writtenWebUrl(text);
        expect(written === null || isUrl(written), `${written}`).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('stay as written where they can', () => {
    expect(writtenWebUrl('https://Pay.example')).toBe('https://Pay.example');
    expect(writtenWebUrl('https://pay.example/ä')).toBe('https://pay.example/%C3%A4');
    expect(writtenWebUrl('pay.example')).toBeNull();
  });
});
