import { describe, expect, it } from 'vitest';
import { formatRelation, isReadByApt, parseProvides, parseRelationField } from '../../src/apt/relations.ts';

describe('D1: a field of relations', () => {
  const written = (field: string | null) => parseRelationField(field).map((group) => group.map(formatRelation));

  it('is read to its groups and their alternatives, however they are spaced', () => {
    expect(written('a, b(>=1) |c:any (<< 2~) ,, d (= 1:2-3),\n e|\tf')).toEqual([
      ['a'],
      ['b (>= 1)', 'c:any (<< 2~)'],
      ['d (= 1:2-3)'],
      ['e', 'f'],
    ]);
    for (const none of [null, '', ' , ,', '|']) expect(written(none), String(none)).toEqual([]);
  });

  it('reads < and > of old packages as apt does: equal versions are in', () => {
    expect(written('a (< 1), b (> 2), c (<= 1), d (>= 2), e (<< 1), f (>> 2)')).toEqual(
      ['a (<= 1)', 'b (>= 2)', 'c (<= 1)', 'd (>= 2)', 'e (<< 1)', 'f (>> 2)'].map((relation) => [relation]),
    );
  });

  it('reads a version without an operator as that one exactly, as apt does', () => {
    expect(written('a (1.0-1+debug), b:any(2) | c ( 1:3~ )')).toEqual([
      ['a (= 1.0-1+debug)'],
      ['b:any (= 2)', 'c (= 1:3~)'],
    ]);
    expect(parseProvides('a (3.0), b')).toEqual([
      { name: 'a', version: '3.0' },
      { name: 'b', version: null },
    ]);
  });

  it('keeps what is no relation as one that nothing meets', () => {
    for (const text of [
      'a b',
      'a (1 2)',

      'a (>= 1',
      'a [amd64]',
      'a <!nocheck>',
      'a (=> 1)',
      '(>= 1)',
    ]) {
      const [[relation] = []] = parseRelationField(text);
      expect(relation, text).toMatchObject({ name: text, operator: null, version: null, readable: false });
    }
  });

  it('provides names once, in a version only where that is one exactly', () => {
    expect(parseProvides('a, b (= 2), a, c (>= 1), d e, b (= 2), b')).toEqual([
      { name: 'a', version: null },
      { name: 'b', version: '2' },
      { name: 'b', version: null },
    ]);
  });

  // Each of these texts was given to apt 2.6.2.
  it.each([
    '',
    ' ',
    'b',
    'b, ',
    'b | ',
    'b:any',
    'b(>=1)',
    'b (1.0)',
    'b (=> 1)',
    'b (>= 1 2)',
    'b;c',
    '$x',
    'b (>1), c',
    'a,\n b\t(>= 1)',
  ])('knows that apt reads "%s"', (text) => {
    expect(isReadByApt(text)).toBe(true);
  });

  it.each([
    'b [amd64]',
    'b <!nocheck>',
    'b (>= 1',
    'b >= 1',
    'b ()',
    'b (>=)',
    ', b',
    'b,, c',
    '| b',
    'b c',
    '(b)',
    'b (= 1)(c)',
    'b (>1)',
  ])('knows that apt reads no list with "%s" in it', (text) => {
    expect(isReadByApt(text)).toBe(false);
  });

  it('C2: asks whether apt reads a field in time that grows with its length alone', () => {
    for (const part of ['a, ', '(', ' ', 'b (>= ', 'b (>= 1)', 'b (>= 1), ']) {
      expect(isReadByApt(`${part.repeat(40_000)}]`), part).toBe(false);
    }
  });
});
