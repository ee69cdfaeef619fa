import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinWords, nameTerms } from '../../src/catalog/search-text.ts';
import { beginningLists } from '../../src/results/beginning-lists.ts';
import { composeBeginnings, composeFirstRows } from '../../src/site/beginnings.ts';
import type { PackageSummary } from '../../src/site/package-summary.ts';

const good = { slug: 'one', toldName: 'One' };
const away = { slug: 'two', toldName: 'Two', outcome: { outcome: 'failed' } };

const summaryOf = (name: string, fields: Partial<Record<keyof PackageSummary, unknown>> = {}) =>
  ({
    id: `com.example.${name}`,
    name,
    version: '1',
    summary: 'It does a thing',
    paid: false,
    architectures: ['iphoneos-arm'],
    builtFor: new Map(),
    unsafeIn: new Set(),
    stated: new Map(),
    repository: good,
    ...fields,
  }) as unknown as PackageSummary;

const namesOf = (packages: readonly PackageSummary[], beginning: string) =>
  composeBeginnings(packages, false)
    .get(beginning)
    ?.map(({ name }) => name);

describe('what two letters begin', () => {
  it('is names that begin so, then words of names, and of each the shorter first', () => {
    const names = ['Big Choicy', 'Choicy', 'Chase', 'CH', 'Alpha', 'aChoicy', 'Archive'];
    expect(
      namesOf(
        names.map((name) => summaryOf(name)),
        'ch',
      ),
    ).toEqual(['CH', 'Chase', 'Choicy', 'aChoicy', 'Big Choicy']);
  });

  it('is what is released and can be had before what is not', () => {
    const packages = [
      summaryOf('Cha', { repository: away }),
      summaryOf('Chb', { version: '1~beta1' }),
      summaryOf('Choicy', { version: '2' }),
      summaryOf('Big Choicy'),
    ];
    expect(namesOf(packages, 'ch')).toEqual(['Choicy', 'Cha', 'Chb', 'Big Choicy']);
  });

  it('is in the order of names and identifiers where nothing else tells', () => {
    const same = [summaryOf('Same', { id: 'b' }), summaryOf('Same', { id: 'a' }), summaryOf('Sama', { id: 'c' })];
    const ids = composeBeginnings(same, false)
      .get('sa')
      ?.map(({ id }) => id);
    expect(ids).toEqual(['c', 'a', 'b']);
  });

  it.each(['rising', 'falling'])('holds no more than serve the letters that follow, in %s order', (order) => {
    const packages = Array.from({ length: 35 }, (_, index) => summaryOf(`Many ${index + 10}`));
    const names = packages.slice(0, 30).map(({ name }) => name);
    expect(namesOf(order === 'rising' ? packages : packages.reverse(), 'ma')).toEqual(names);
  });

  it('holds a package once, however its name repeats the letters, and no more than a row shows', () => {
    const packages = [
      summaryOf(`Cha cha cha ${'x'.repeat(500)}`, {
        summary: 'y'.repeat(500),
        repository: { ...good, toldName: 'z'.repeat(500) },
      }),
    ];
    const rows = composeBeginnings(packages, false).get('ch') ?? [];
    const lengths = rows.map(({ name, summary, place, runs }) => [name.length, summary.length, place.length, runs]);
    expect(lengths).toEqual([[201, 161, 81, undefined]]);
    expect(composeBeginnings(packages, true).get('ch')?.[0]?.runs).toBe('');
  });

  it('counts no more words of a name than people know', () => {
    const name = Array.from({ length: 500 }, (_, index) => (index + 360).toString(36)).join('-');
    expect(composeBeginnings([summaryOf(name)], false).size).toBeLessThanOrEqual(13);
  });

  it('is found by whoever types a name, in files of plain names', () => {
    const name = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
      fc.constantFrom('日本語', 'ÄÖ x', 'a-b'),
    );
    fc.assert(
      fc.property(name, (text) => {
        const lists = composeBeginnings([summaryOf(text)], false);
        for (const beginning of lists.keys()) {
          expect(beginningLists.of(beginning)).toBe(beginning);
          expect(beginningLists.file(beginning)).toMatch(/^search-index\/beginnings\/[\da-f]+-[\da-f]+\.json$/);
        }
        const typed = beginningLists.of(text);
        if (typed !== undefined) expect(lists.has(typed)).toBe(true);
        expect(lists.size).toBeLessThanOrEqual(1 + nameTerms(text).words.size);
        expect(typed === undefined).toBe([...joinWords(text)].length < 2);
      }),
    );
  });

  it('is told for each second letter in the file of the first, as far as it is shown', () => {
    const names = [
      'Choicy',
      'Big Choicy',
      'Cat',
      '日本語',
      ...Array.from({ length: 9 }, (_, index) => `Many ${index}`),
    ];
    const lists = composeBeginnings(
      names.map((name) => summaryOf(name)),
      false,
    );
    const firsts = composeFirstRows(lists);
    const shown = [...firsts].map(([letter, rows]) => [
      letter,
      Object.entries(rows).map(([second, list]) => [second, list.map(({ name }) => name)]),
    ]);
    expect(Object.fromEntries(shown)).toEqual({
      c: [
        ['h', ['Choicy', 'Big Choicy']],
        ['a', ['Cat']],
      ],
      b: [['i', ['Big Choicy']]],
      日: [['本', ['日本語']]],
      m: [['a', Array.from({ length: 7 }, (_, index) => `Many ${index}`)]],
    });
    expect(firsts.get('c')?.h).toEqual(lists.get('ch'));
    const letters = ['m', ' M', 'ma', '日', '-', ''].map(beginningLists.letterOf);
    expect(letters).toEqual(['m', 'm', 'm', '日', undefined, undefined]);
    expect(beginningLists.file('m')).toBe('search-index/beginnings/6d.json');
  });

  it('is no more in the file of one letter than a phone reads at once, of the commonest second letters', () => {
    const common = Array.from({ length: 8 }, (_, index) => `ma${index}`);
    const rare = Array.from({ length: 5000 }, (_, index) => `m${String.fromCodePoint(0x4e00 + index)}`);
    const lists = composeBeginnings(
      [...rare, ...common].map((name) => summaryOf(name)),
      false,
    );
    const rows = composeFirstRows(lists).get('m') ?? {};
    expect(rows.a?.map(({ name }) => name)).toEqual(common.slice(0, 7));
    expect(Object.values(rows).flat()).toHaveLength(256);
  });

  it('answers two letters, and neither one nor three', () => {
    const asked = ['c', 'ch', ' ch ', 'cho', 'c h', 'c.', '日本', 'CH'];
    expect(asked.filter(beginningLists.answers)).toEqual(['ch', ' ch ', '日本', 'CH']);
  });
});
