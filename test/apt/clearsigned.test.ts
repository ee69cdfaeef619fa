import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { splitClearSigned } from '../../src/apt/clearsigned.ts';

const samples = new URL('../../../shared/vectors/clearsign/', import.meta.url);

const signed = (body: string): string =>
  `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${body}\n-----BEGIN PGP SIGNATURE-----\n\nabcd\n=TB1F\n-----END PGP SIGNATURE-----\n`;

const split = (text: string) => {
  const result = splitClearSigned(Buffer.from(text));
  return result.kind === 'signed' ? { ...result, content: Buffer.from(result.content).toString() } : result;
};

describe('splitClearSigned', () => {
  it.skipIf(!existsSync(samples))('V3: agrees with apt on each of its samples (in ../shared)', () => {
    const rows = readFileSync(new URL('expected.tsv', samples), 'utf8').trim().split('\n');
    for (const row of rows.filter((line) => !line.startsWith('#'))) {
      const [name = '', isSigned, verdict = ''] = row.split('\t');
      const result = splitClearSigned(readFileSync(new URL(`${name}.txt`, samples)));
      const expected = verdict === 'reject' ? 'refused' : isSigned === 'true' ? 'signed' : 'plain';
      expect(result.kind, name).toBe(expected);
      if (result.kind !== 'signed') continue;
      expect(Buffer.from(result.content).toString(), name).toBe('Test\n');
      expect(result.signatures.match(/BEGIN PGP SIGNATURE/g)?.length).toBe(name.includes('TwoSignatures') ? 2 : 1);
    }
    expect(rows.length).toBeGreaterThan(14);
  });

  it('V3: uses only the signed bytes, whatever their encoding', () => {
    expect(split(signed('Origin: é\n- -dash\n\nx \t'))).toEqual({
      kind: 'signed',
      content: 'Origin: é\n-dash\n\nx\n',
      signatures: '-----BEGIN PGP SIGNATURE-----\n\nabcd\n=TB1F\n-----END PGP SIGNATURE-----\n',
      message: signed('Origin: é\n- -dash\n\nx \t'),
    });
    expect(split(signed('a').replaceAll('\n', '\r\n'))).toMatchObject({ kind: 'signed', content: 'a\n' });
    expect(split(signed('a \t').replaceAll('\n', '\r\n'))).toMatchObject({ kind: 'signed', content: 'a\n' });
    const bytes = Buffer.from(signed('a\u00ff'), 'latin1');
    expect(splitClearSigned(bytes)).toMatchObject({ content: Buffer.from([0x61, 0xff, 0x0a]) });
  });

  it('V3: refuses anything before, between or after', () => {
    const message = signed('a');
    expect(split(`x\n${message}`).kind).toBe('refused');
    expect(split(`\n${message}`).kind).toBe('refused');
    expect(split(`${message}x\n`).kind).toBe('refused');
    expect(split(`${message}${message}`).kind).toBe('refused');
    for (const blank of ['\n', ' \n', ' ', '\r\n', '\r', '\n\n\n']) {
      expect(split(message + blank), JSON.stringify(blank)).toMatchObject({ kind: 'refused' });
      expect(splitClearSigned(Buffer.from(message + blank), { blankAfter: true }).kind).toBe('signed');
    }
    const [block] = message.match(/-----BEGIN PGP SIGNATURE.+/s) ?? [];
    expect(split(message + block).kind).toBe('signed');
    expect(split(`${message}\n${block}`).kind).toBe('refused');
    expect(split(message.replace('-----BEGIN PGP SIGNATURE', `x\n-----END PGP SIGNATURE-----\n$&`)).kind).toBe(
      'refused',
    );
    expect(split(message.replace('abcd', '- abcd')).kind).toBe('refused');
    expect(split(message.replace('\na\n', '\n-a\n')).kind).toBe('refused');
  });

  it('V4: refuses a signed message cut off at any byte', () => {
    const message = signed('Origin: a');
    const whole = message.trimEnd().length;
    for (let length = '-----BEGIN PGP SIGNED MESSAGE-----'.length; length < whole; length += 1) {
      expect(split(message.slice(0, length)).kind, String(length)).toBe('refused');
    }
  });
});
