import { describe, expect, it } from 'vitest';
import { RequestHead } from '../../functions/node/request-head.ts';

const bounds = { requestLine: 100, headers: 60 };
const first = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';
const second = 'GET /b HTTP/1.1\r\nHost: b\r\n\r\n';

/** What is given on of these pieces, one text for each portion, up to the bound that is exceeded. */
const readAll = (pieces: readonly string[], head = new RequestHead(bounds)) => {
  const portions: string[] = [];
  for (const piece of pieces) {
    let held: Buffer | undefined = Buffer.from(piece, 'latin1');
    while (held !== undefined) {
      const { bytes, rest, exceeded } = head.read(held);
      if (exceeded !== undefined) return [...portions, exceeded];
      portions.push(bytes.toString('latin1'));
      held = rest;
      if (bytes.toString('latin1').endsWith('\r\n\r\n')) head.reset();
    }
  }
  return portions;
};

describe('H8 the head of a request', () => {
  it('ends where it ends, wherever its bytes are parted', () => {
    expect(readAll([first + second])).toEqual([first, second]);
    const both = first + second;
    for (let at = 1; at < both.length; at++) {
      const head = new RequestHead(bounds);
      // Of the first piece nothing of the second request is given on together with the first.
      const portions = readAll([both.slice(0, at), both.slice(at)], head);
      expect(portions.join(''), `parted at ${at}`).toBe(both);
      for (const portion of portions) expect(portion.slice(0, -4), `parted at ${at}`).not.toContain('\r\n\r\n');
      expect(portions.some((portion) => portion.includes('b HTTP') && portion.includes('Host: a'))).toBe(false);
    }
    expect(readAll([...both]).join('')).toBe(both);
  });

  it('is measured, its line and its headers each by a bound of its own, in one piece or byte by byte', () => {
    const line = (length: number) => `GET /${'a'.repeat(length - 'GET / HTTP/1.1\r'.length)} HTTP/1.1\r\n`;
    const headers = (length: number) => `X: ${'a'.repeat(length - 'X: \r\n\r\n'.length)}\r\n\r\n`;
    const cases: readonly [string, string | undefined][] = [
      [line(100) + headers(60), undefined],
      [line(101) + headers(60), 'requestLine'],
      [line(100) + headers(61), 'headers'],
      [`\r\n\r\n${line(100)}${headers(60)}`, undefined],
      ['a'.repeat(5000), 'requestLine'],
    ];
    for (const [text, exceeded] of cases) {
      const named = exceeded ?? text;
      expect(readAll([text]).at(-1) === exceeded || readAll([text]).join('') === named, text.slice(-80)).toBe(true);
      expect(readAll([...text]).at(-1) === exceeded || readAll([...text]).join('') === named, text.slice(-80)).toBe(
        true,
      );
    }
    // Every request is measured from its own beginning.
    expect(readAll([(line(90) + headers(50)).repeat(5)])).toHaveLength(5);
  });

  it('has what is not ASCII in its line percent-encoded, and counted so, and nowhere else', () => {
    const utf8 = Buffer.from('GET /?q=ち HTTP/1.1\r\nX: ち\r\n\r\n').toString('latin1');
    const encoded = `GET /?q=%E3%81%A1 HTTP/1.1\r\nX: ${Buffer.from('ち').toString('latin1')}\r\n\r\n`;
    expect(readAll([utf8])).toEqual([encoded]);
    expect(readAll([...utf8]).join('')).toBe(encoded);
    expect(readAll([`GET /${'\xe3'.repeat(30)} HTTP/1.1\r\n\r\n`])).toEqual(['requestLine']);
  });
});
