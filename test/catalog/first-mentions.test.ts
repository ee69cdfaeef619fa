import { describe, expect, it } from 'vitest';
import { type PackageStanza, parsePackage } from '../../src/apt/packages-index.ts';
import { FirstMentions } from '../../src/catalog/first-mentions.ts';

const stanza = (name: string, fields: Record<string, string> = {}): PackageStanza => {
  const parsed = parsePackage(
    new Map(Object.entries({ package: name, version: '1', architecture: 'amd64', filename: './a.deb', ...fields })),
  );
  if (!parsed.ok) throw new Error(parsed.finding);
  return parsed.value;
};

/** The packages of an index, the one that is first named last standing first: as apt takes them. */
const inTurn = (stanzas: readonly PackageStanza[], mentions = new FirstMentions()): string[] =>
  stanzas
    .map((one) => ({ name: one.package, place: mentions.note(one) }))
    .sort((a, b) => b.place - a.place)
    .map(({ name }) => name);

describe('where an index first names its packages', () => {
  it('D1: by a stanza of its own, or in whatever relation stands before', () => {
    expect(inTurn([stanza('b'), stanza('a')])).toEqual(['a', 'b']);
    const depends = 'x (>= 1) | c,  b:amd64(= 2)';
    expect(inTurn([stanza('n', { depends }), stanza('b'), stanza('a'), stanza('c')])).toEqual(['a', 'b', 'c', 'n']);
    expect(inTurn([stanza('n', { depends: 'b:any, b:i386' }), stanza('a'), stanza('b')])).toEqual(['b', 'a', 'n']);
    // The second version of a package is where the first one is.
    expect(inTurn([stanza('a'), stanza('b'), stanza('a', { version: '2' })]).at(0)).toBe('b');
  });

  it('D1: each architecture by itself, and packages for all of them with each', () => {
    const other = stanza('n', { architecture: 'i386', depends: 'b' });
    expect(inTurn([other, stanza('a'), stanza('b')])).toEqual(['b', 'a', 'n']);
    const all = stanza('n', { architecture: 'all', depends: 'b' });
    expect(inTurn([all, stanza('a'), stanza('b')])).toEqual(['a', 'b', 'n']);
    const forAll = stanza('b', { architecture: 'all' });
    expect(inTurn([stanza('n', { depends: 'b' }), stanza('a'), forAll])).toEqual(['a', 'b', 'n']);
    const late = [stanza('n', { depends: 'b' }), { ...all, package: 'm' }, stanza('a'), stanza('b')];
    expect(inTurn(late)).toEqual(['a', 'm', 'b', 'n']);
  });

  it('C7: no more than it may read and remember', () => {
    const names = [stanza('n', { depends: 'd, c, b, a' }), ...['a', 'b', 'c', 'd'].map((name) => stanza(name))];
    const most = { relations: 100, names: 100 };
    expect(inTurn(names, new FirstMentions(most))).toEqual(['a', 'b', 'c', 'd', 'n']);
    expect(inTurn(names, new FirstMentions({ ...most, relations: 2 }))).toEqual(['b', 'a', 'c', 'd', 'n']);
    // Two for each: for its architecture and for whichever.
    expect(inTurn(names, new FirstMentions({ ...most, names: 5 }))).toEqual(['c', 'b', 'a', 'd', 'n']);
    expect(inTurn(names, new FirstMentions({ ...most, names: 6 }))).toEqual(['b', 'a', 'c', 'd', 'n']);
    expect(new Set(names.map((one) => new FirstMentions({ relations: 0, names: 0 }).note(one)))).toEqual(new Set([0]));
    const [long, other] = ['x', 'y'].map((end) => 'x'.repeat(249) + end) as [string, string];
    expect(inTurn([stanza('n', { depends: long }), stanza('a'), stanza(long)])).toEqual(['a', long, 'n']);
    expect(inTurn([stanza('n', { depends: long }), stanza('a'), stanza(other)])).toEqual([other, 'a', 'n']);
    const architecture = long;
    const ofLong = (name: string, fields = {}) => stanza(name, { architecture, ...fields });
    expect(inTurn([ofLong('n', { depends: 'b' }), ofLong('a'), ofLong('b')])).toEqual(['a', 'b', 'n']);
    expect(inTurn([ofLong('n', { depends: 'b' }), ofLong('a'), { ...ofLong('b'), architecture: other }])).toEqual([
      'b',
      'a',
      'n',
    ]);
  });

  it('D1: in the order of the fields that apt has, whichever the stanza has', () => {
    const fields = ['pre-depends', 'depends', 'conflicts', 'breaks', 'recommends', 'suggests', 'replaces', 'enhances'];
    const named = [...fields, 'provides'];
    const naming = stanza('n', Object.fromEntries(named.toReversed().map((field) => [field, `of-${field}`])));
    const own = named.toSorted().map((field) => stanza(`of-${field}`));
    expect(inTurn([naming, ...own])).toEqual([...named.toReversed().map((field) => `of-${field}`), 'n']);
  });
});
