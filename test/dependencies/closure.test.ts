import { afterEach, describe, expect, it } from 'vitest';
import { closureLimits } from '../../src/contract/dependency-records.ts';
import { packages, type SourceRepository } from '../support/catalog.ts';
import { type Asked, namesOf, openClosures } from '../support/dependencies.ts';

let close: (() => void) | undefined;
afterEach(() => close?.());

type Fields = Record<string, string>;

const repository = (slug: string, stanzas: readonly Fields[], options: Partial<SourceRepository> = {}) => ({
  slug,
  packages: packages(...stanzas),
  ...options,
});

const ask = async (repositories: readonly SourceRepository[], asked: Partial<Asked> = {}) => {
  const opened = await openClosures(repositories);
  close = opened.close;
  return opened.ask({ packageId: 'a', ...asked });
};

/** One repository, of stanzas in short: name, then fields. */
const among = (...stanzas: Fields[]) => ask([repository('r', stanzas)]);

const a = (fields: Fields = {}) => ({ Package: 'a', ...fields });
const b = (fields: Fields = {}) => ({ Package: 'b', ...fields });
const c = (fields: Fields = {}) => ({ Package: 'c', ...fields });
const d = (fields: Fields = {}) => ({ Package: 'd', ...fields });

describe('what installing a package brings', () => {
  it('D1: what it needs and what that needs, each once and below what needs it first', async () => {
    const closure = await among(a({ 'Pre-Depends': 'c', Depends: 'b, c' }), b({ Depends: 'c, a' }), c());
    expect(namesOf(closure)).toEqual(['a 1.0', 'c 1.0', 'b 1.0']);
    expect(closure.packages[2]).toEqual({
      package_id: 'b',
      version: '1.0',
      architecture: 'iphoneos-arm',
      repository_id: 'r',
      required_by: 'a',
      relation: 'b',
    });
    expect(closure).toMatchObject({ outcome: 'installable', add: [], device: [], unmet: [] });
  });

  it('D1: ignores conflicts of a package that is not chosen in the end', async () => {
    const closure = await among(
      a({ Depends: 'b | c' }),
      b({ Conflicts: 'd', Depends: 'nothing' }),
      c({ Depends: 'd' }),
      d(),
    );
    expect([closure.outcome, namesOf(closure)]).toEqual(['installable', ['a 1.0', 'c 1.0', 'd 1.0']]);
  });

  it('D1: leaves out what is recommended or suggested', async () => {
    expect(namesOf(await among(a({ Recommends: 'b', Suggests: 'c' }), b(), c()))).toEqual(['a 1.0']);
  });

  const versions: [relation: string, version: string, isMet: boolean][] = [
    ['b (>= 1.0)', '1.0', true],
    ['b (>= 1.0)', '1.0~beta', false],
    ['b (<< 2)', '2', false],
    ['b (<< 1:1)', '3', true],
    ['b (= 1.0)', '1.00', true],
    ['b (>> 1.0)', '1.0', false],
    ['b (<= 1.0)', '1.0-1', false],
    ['b (> 1.0)', '1.0', true],
    ['b(>=1.0)', '1.0', true],
    ['b (1.0)', '1.0', true],
    ['b (1.0)', '1.1', false],
    ['b ( >= 1.0 )', '1.1', true],
  ];
  it.each(versions)('D1, V1: %s and version %s: %s', async (relation, version, isMet) => {
    const closure = await among(a({ Depends: relation }), b({ Version: version }));
    expect(closure.outcome).toBe(isMet ? 'installable' : 'unmet');
    if (!isMet) expect(closure.unmet[0]?.alternatives[0]?.reason).toBe('version');
  });

  it('D1: takes the highest version there is, in whichever repository, and no older one that would fit', async () => {
    const old = repository('old', [a({ Depends: 'b (= 1)' }), b({ Version: '1' })], { ranking: 1 });
    const closure = await ask([old, repository('new', [b({ Version: '2' })], { ranking: 5 })]);
    expect(closure.unmet).toMatchObject([
      { required_by: 'a', field: 'Depends', alternatives: [{ relation: 'b (= 1)', reason: 'version' }] },
    ]);
    expect(closure.unmet[0]?.alternatives[0]?.text).toContain('2');
  });

  it('D1: takes of equal versions that for the architecture itself, then that of the better ranked repository', async () => {
    const taken = async (better: Fields, worse: Fields) => {
      const repositories = [repository('better', [a({ Depends: 'b' }), b(better)], { ranking: 1 })];
      const closure = await ask([...repositories, repository('worse', [b(worse)], { ranking: 5 })]);
      return closure.packages[1]?.repository_id;
    };
    expect(await taken({ Architecture: 'all' }, {})).toBe('worse');
    expect(await taken({}, { Architecture: 'all' })).toBe('better');
    expect(await taken({}, {})).toBe('better');
  });

  it('D1: prefers what is chosen already, then the first alternative that can be installed whole', async () => {
    const all = [b(), c(), d({ Depends: 'nowhere' })];
    expect(namesOf(await among(a({ Depends: 'c, b | c' }), ...all))).toEqual(['a 1.0', 'c 1.0']);
    expect(namesOf(await among(a({ Depends: 'b | c' }), ...all))).toEqual(['a 1.0', 'b 1.0']);
    expect(namesOf(await among(a({ Depends: 'd | c' }), ...all))).toEqual(['a 1.0', 'c 1.0']);
  });

  it('D1: takes back what an alternative brought that cannot be installed', async () => {
    const closure = await among(a({ Depends: 'b | c' }), b({ Depends: 'd, firmware, nowhere' }), c(), d());
    expect(namesOf(closure)).toEqual(['a 1.0', 'c 1.0']);
    expect(closure.device).toEqual([]);
  });

  it('D1: a package that was taken back neither meets relations nor conflicts with anything', async () => {
    const taken = b({ Provides: 'v', Conflicts: 'e', Depends: 'nowhere' });
    const closure = await among(a({ Depends: 'b | c, v | d, e' }), taken, c(), d(), { Package: 'e' });
    expect(namesOf(closure)).toEqual(['a 1.0', 'c 1.0', 'd 1.0', 'e 1.0']);
  });

  const provided: [provides: string, relation: string, isMet: boolean][] = [
    ['v', 'v', true],
    ['v', 'v (>= 1)', false],
    ['v', 'v (<< 2)', false],
    ['v (= 2)', 'v (>= 1)', true],
    ['v (= 2)', 'v (<< 2)', false],
    ['x, v (= 1), v (= 3)', 'v (>= 3)', true],
    ['v (>= 2)', 'v', false],
  ];
  it.each(provided)('D1: who provides %s meets %s: %s', async (provides, relation, isMet) => {
    const closure = await among(a({ Depends: relation }), b({ Provides: provides }));
    expect([closure.outcome, namesOf(closure)]).toEqual(
      isMet ? ['installable', ['a 1.0', 'b 1.0']] : ['unmet', ['a 1.0']],
    );
  });

  it('D1: takes the package of a name before who provides it, then essential ones, then by priority', async () => {
    const needs = a({ Depends: 'v' });
    const providing = [b({ Provides: 'v', Priority: 'optional' }), c({ Provides: 'v', Priority: 'important' })];
    expect(namesOf(await among(needs, ...providing))).toEqual(['a 1.0', 'c 1.0']);
    const otherwiseWritten = b({ Provides: 'v', Priority: 'Optional' });
    expect(namesOf(await among(needs, c({ Provides: 'v', Priority: 'Standard' }), otherwiseWritten))[1]).toBe('c 1.0');
    const essential = d({ Provides: 'v', Essential: 'yes' });
    expect(namesOf(await among(needs, ...providing, essential))).toEqual(['a 1.0', 'd 1.0']);
    expect(namesOf(await among(needs, ...providing, essential, { Package: 'v' }))).toEqual(['a 1.0', 'v 1.0']);
  });

  it('D1: counts what the newest version provides, and not what an older one did', async () => {
    const older = b({ Version: '1', Provides: 'v' });
    expect((await among(a({ Depends: 'v' }), older, b({ Version: '2' }))).outcome).toBe('unmet');
    expect((await among(a({ Depends: 'v' }), b({ Version: '0' }), older)).outcome).toBe('installable');
  });

  const conflicts: [what: string, first: Fields, second: Fields][] = [
    ['a conflict', { Conflicts: 'c' }, {}],
    ['a conflict that the other declares', {}, { Conflicts: 'b (<< 2)' }],
    ['what breaks the other', { Breaks: 'c (<= 1.0)' }, {}],
    ['a conflict with what is provided', { Conflicts: 'v' }, { Provides: 'v' }],
    ['a provided name that the other refuses', { Provides: 'v (= 1)' }, { Conflicts: 'v (>= 1)' }],
  ];
  it.each(conflicts)('D1: %s stands in the way', async (_what, first, second) => {
    const closure = await among(a({ Depends: 'b, c' }), b(first), c(second));
    expect(namesOf(closure)).toEqual(['a 1.0', 'b 1.0']);
    expect(closure.unmet).toMatchObject([{ required_by: 'a', alternatives: [{ relation: 'c', reason: 'conflict' }] }]);
    expect(closure.unmet[0]?.alternatives[0]?.text).toBe('c 1.0 and b 1.0 cannot be installed together');
  });

  it('D1: a package may provide and refuse one name, and refuse older versions of others', async () => {
    const fields = { Provides: 'v', Conflicts: 'v', Replaces: 'v', Breaks: 'c (<< 1.0)' };
    expect((await among(a({ Depends: 'b, c' }), b(fields), c())).outcome).toBe('installable');
  });

  it('D1: another alternative is taken where the first one conflicts', async () => {
    const closure = await among(a({ Depends: 'b, c | d' }), b({ Conflicts: 'c' }), c(), d());
    expect(namesOf(closure)).toEqual(['a 1.0', 'b 1.0', 'd 1.0']);
  });

  it('D1: gives up an earlier choice if it conflicts with a package that nothing else can replace', async () => {
    const closure = await among(a({ Depends: 'b | c, d' }), b({ Conflicts: 'c' }), c(), d({ Depends: 'c' }));
    expect([closure.outcome, namesOf(closure)]).toEqual(['installable', ['a 1.0', 'c 1.0', 'd 1.0']]);
    const neither = await among(a({ Depends: 'b, d' }), b({ Conflicts: 'c' }), c(), d({ Depends: 'c' }));
    expect(namesOf(neither)).toEqual(['a 1.0', 'b 1.0', 'd 1.0']);
    expect(neither.unmet).toMatchObject([{ required_by: 'd', alternatives: [{ reason: 'conflict' }] }]);
  });

  it('D1: of packages that provide a name and are equal otherwise the one that the index names last is taken', async () => {
    const taken = async (...stanzas: Fields[]) => namesOf(await among(...stanzas, a({ Depends: 'v' })))[1];
    const [one, other] = [b({ Provides: 'v' }), c({ Provides: 'v' })];
    expect(await taken(one, other)).toBe('c 1.0');
    expect(await taken(other, one)).toBe('b 1.0');
    expect(await taken(d({ Suggests: 'x | c' }), one, other), 'named before its own stanza').toBe('b 1.0');
    // A newer version does not come later.
    expect(await taken(one, other, { ...one, Version: '2.0' })).toBe('c 1.0');
    const closure = await ask([
      repository('better', [a({ Depends: 'v' }), one], { ranking: 1 }),
      // Further down than the other one is in its own.
      repository('worse', [d({ Suggests: 'w, x, y, z' }), other], { ranking: 2 }),
    ]);
    expect(namesOf(closure)).toEqual(['a 1.0', 'b 1.0']);
  });

  const qualified: [relation: string, fields: Fields, isMet: boolean][] = [
    ['b:any', { 'Multi-Arch': 'allowed' }, true],
    ['b:any', { 'Multi-Arch': 'foreign' }, false],
    ['b:any (>= 1)', { 'Multi-Arch': 'allowed' }, true],
    ['b:native', {}, true],
    ['b:iphoneos-arm', {}, true],
    ['b:iphoneos-arm64', {}, false],
    ['b', { Architecture: 'all' }, true],
    ['b', { Architecture: 'iphoneos-arm64' }, false],
  ];
  it.each(qualified)('D1: %s and %j: %s', async (relation, fields, isMet) => {
    expect((await among(a({ Depends: relation }), b(fields))).outcome).toBe(isMet ? 'installable' : 'unmet');
  });

  it('D2: says for which architectures there is a package', async () => {
    const { unmet } = await among(a({ Depends: 'b | nowhere | b (' }), b({ Architecture: 'iphoneos-arm64' }));
    expect(unmet[0]?.alternatives).toEqual([
      { relation: 'b', reason: 'architecture', text: 'b is there for iphoneos-arm64, not for iphoneos-arm' },
      { relation: 'nowhere', reason: 'not-found', text: 'No repository has nowhere, or anything that provides it' },
      { relation: 'b (', reason: 'unreadable', text: 'This is no relation that could be met' },
    ]);
  });

  it.each([
    ['b:any', 'b 1.0 is not one of those that serve any architecture'],
    ['b:amd64 (>= 1)', 'It is asked for amd64, and the device has iphoneos-arm'],
  ])('D2: says of %s that the architecture is what does not fit', async (relation, text) => {
    const closure = await among(a({ Depends: relation }), b());
    expect(closure.unmet[0]?.alternatives).toEqual([{ relation, reason: 'architecture', text }]);
  });

  it('D1: what is chosen already meets a relation to any architecture exactly if it says so, and is not taken twice', async () => {
    const needs = [a({ Depends: 'b, c' }), c({ Depends: 'b:any' })];
    const allowed = await among(...needs, b({ 'Multi-Arch': 'allowed' }));
    expect([allowed.outcome, namesOf(allowed)]).toEqual(['installable', ['a 1.0', 'b 1.0', 'c 1.0']]);
    expect((await among(...needs, b({ 'Multi-Arch': 'foreign' }))).outcome).toBe('unmet');
  });

  it('D2: names what is missing, and which package needs it, and still lists the rest', async () => {
    const closure = await among(a({ Depends: 'b' }), b({ Depends: 'c' }), c({ Depends: 'nowhere, d' }), d());
    expect(namesOf(closure)).toEqual(['a 1.0', 'b 1.0', 'c 1.0', 'd 1.0']);
    expect(closure.unmet).toMatchObject([{ required_by: 'c', alternatives: [{ relation: 'nowhere' }] }]);
  });

  it('D2: a package that is not there for the architecture is what cannot be met itself', async () => {
    const closure = await ask([repository('r', [a()])], { architecture: 'iphoneos-arm64' });
    expect(closure).toMatchObject({ outcome: 'unmet', packages: [], unmet: [{ required_by: null, field: null }] });
  });
});

describe('what the device itself provides', () => {
  it('D1: any firmware will do where none is given, and that one is compared otherwise', async () => {
    const repositories = [
      repository('r', [a({ Depends: 'firmware (>= 14.0), firmware (<< 17), gsc.armv7, cy+cpu.arm' })]),
    ];
    const any = await ask(repositories);
    expect(any).toMatchObject({ outcome: 'installable', firmware: null });
    expect(any.device.map(({ name, reason }) => [name, reason])).toEqual([
      ['firmware', 'system'],
      ['firmware', 'system'],
      ['gsc.armv7', 'system'],
      ['cy+cpu.arm', 'system'],
    ]);
    expect((await ask(repositories, { firmware: '16.5' })).outcome).toBe('installable');
    expect((await ask(repositories, { firmware: '13.7' })).unmet).toMatchObject([
      { alternatives: [{ relation: 'firmware (>= 14.0)', reason: 'firmware', text: 'The device runs firmware 13.7' }] },
    ]);
  });

  it('D1: is told once, however many ask for it', async () => {
    const relation = 'firmware (>= 14.0)';
    const closure = await among(a({ Depends: `${relation}, b` }), b({ Depends: relation }));
    expect(closure.device).toEqual([{ name: 'firmware', relation, required_by: 'a', reason: 'system' }]);
  });

  it('D1: a package may refuse a firmware', async () => {
    const repositories = [repository('r', [a({ Depends: 'b' }), b({ Conflicts: 'firmware (<< 14), c (<< 15)' })])];
    expect((await ask(repositories)).outcome).toBe('installable');
    expect((await ask(repositories, { firmware: '14.0' })).outcome).toBe('installable');
    expect((await ask(repositories, { firmware: '13' })).unmet).toMatchObject([
      { alternatives: [{ reason: 'conflict', text: 'b 1.0 and this firmware cannot be installed together' }] },
    ]);
  });

  it('D1: has the essential packages of its bootstrap, whichever that is', async () => {
    const essential = b({ Essential: 'yes', Depends: 'c' });
    const mine = repository('mine', [a({ Depends: 'b (>= 1)' })]);
    const boot = repository('boot', [essential, c()], { bootstrap: true });
    for (const repositories of [['mine'], ['mine', 'boot']]) {
      const closure = await ask([mine, boot], { repositories });
      expect(namesOf(closure)).toEqual(['a 1.0']);
      expect(closure).toMatchObject({ add: [], device: [{ name: 'b', reason: 'essential', required_by: 'a' }] });
    }
    // But it has no other version of them.
    const newer = await ask([repository('mine', [a({ Depends: 'b (>= 5)' })]), boot], { repositories: ['mine'] });
    expect(newer).toMatchObject({ outcome: 'unmet', device: [] });
    const usual = await ask([mine, repository('usual', [essential, c()])], { repositories: ['mine'] });
    expect(namesOf(usual)).toEqual(['a 1.0', 'b 1.0', 'c 1.0']);
    const other = repository('other', [d()], { bootstrap: true });
    const another = await ask([mine, boot, other], { repositories: ['mine', 'other'] });
    expect(another.add.map(({ repository_id: slug }) => slug)).toEqual(['boot']);
    expect(another).toMatchObject({ device: [], outcome: 'installable' });
  });
});

describe('what is in repositories that a visitor has not', () => {
  const mine = repository('mine', [a({ Depends: 'b' })]);

  it('D3: the best ranked repository that has the package is to be added, with what the package needs', async () => {
    const closure = await ask(
      [
        mine,
        repository('worse', [b({ Version: '9' })], { ranking: 4 }),
        repository('better', [b({ Depends: 'c' }), c()], { ranking: 2 }),
      ],
      { repositories: ['mine'] },
    );
    expect(namesOf(closure)).toEqual(['a 1.0', 'b 1.0', 'c 1.0']);
    expect(closure.add).toEqual([
      { repository_id: 'better', uri: 'https://better.example/', suite: './', package_count: 2, safe: true },
    ]);
  });

  it('D3: of equally well ranked ones that with the newest version is to be added', async () => {
    const others = ['1', '3', '2'].map((Version) => repository(`other${Version}`, [b({ Version })], { ranking: 3 }));
    const provider = repository('provider', [c({ Provides: 'b', Version: '9' })], { ranking: 1 });
    const { add } = await ask([mine, provider, ...others], { repositories: ['mine'] });
    expect(add.map(({ repository_id: slug }) => slug)).toEqual(['other3']);
  });

  describe('of which some are unsafe', () => {
    const isSafe = (uri: string) => !uri.includes('bad');
    const bad = repository('bad', [b({ Version: '9' })], { ranking: 1 });
    const addedTo = async (own: SourceRepository, ...others: SourceRepository[]) => {
      const { add, outcome } = await ask([own, ...others], { repositories: ['mine'], isSafe });
      return [...add.map(({ repository_id: slug, safe }) => [slug, safe]), outcome];
    };

    it('D3: one that is safe is to be added, however it is ranked', async () => {
      const safe = repository('safe', [b({ Version: '1' })], { ranking: 5 });
      expect(await addedTo(mine, bad, safe)).toEqual([['safe', true], 'installable']);
    });

    it('D3: a safe one that provides it, or that has an alternative, comes before one that has the package', async () => {
      const provider = repository('safe', [c({ Provides: 'b' })], { ranking: 5 });
      expect(await addedTo(mine, bad, provider)).toEqual([['safe', true], 'installable']);
      const own = repository('mine', [a({ Depends: 'b | d' })]);
      expect(await addedTo(own, bad, repository('safe', [d()], { ranking: 5 }))).toEqual([
        ['safe', true],
        'installable',
      ]);
    });

    it('D3: an unsafe one that alone has it is named as such', async () => {
      expect(await addedTo(mine, bad)).toEqual([['bad', false], 'installable']);
      const own = repository('mine', [a({ Depends: 'b, c' })]);
      const safe = repository('safe', [c()], { ranking: 5 });
      expect(await addedTo(own, bad, safe)).toEqual([['bad', false], ['safe', true], 'installable']);
    });
  });

  it('D3: nothing is added for what is there already', async () => {
    const own = repository('mine', [a({ Depends: 'b | c' }), c()], { ranking: 5 });
    const closure = await ask([own, repository('other', [b()], { ranking: 1 })], { repositories: ['mine'] });
    expect([namesOf(closure), closure.add]).toEqual([['a 1.0', 'c 1.0'], []]);
  });

  it('D3: with none at hand everything is added, that of the package first', async () => {
    const closure = await ask([mine, repository('other', [c({ Provides: 'b' })])], { repositories: [] });
    expect(closure.add.map(({ repository_id: slug }) => slug)).toEqual(['mine', 'other']);
    expect(closure).toMatchObject({ outcome: 'installable', repositories: [] });
  });

  it('D3: an older version elsewhere is of no use, since apt would not take it', async () => {
    const own = repository('mine', [a({ Depends: 'b (= 1)' }), b({ Version: '2' })]);
    const closure = await ask([own, repository('other', [b({ Version: '1' })])], { repositories: ['mine'] });
    expect(closure).toMatchObject({ outcome: 'unmet', add: [] });
  });

  it('D3: nor is the same version elsewhere, however much better it is ranked', async () => {
    const own = repository('mine', [a({ Depends: 'b' }), b({ Conflicts: 'a' })], { ranking: 5 });
    const closure = await ask([own, repository('other', [b()], { ranking: 1 })], { repositories: ['mine'] });
    expect(closure).toMatchObject({ outcome: 'unmet', add: [] });
  });

  it('D3: nor does it keep one from being added that is', async () => {
    const own = repository('mine', [a({ Depends: 'b (= 1) | c' }), b({ Version: '2' })]);
    const older = Array.from({ length: closureLimits.repositories }, (_, number) =>
      repository(`old${number}`, [b({ Version: '1' })], { ranking: 1 }),
    );
    const closure = await ask([own, ...older, repository('other', [c()])], { repositories: ['mine'] });
    expect(closure.add.map(({ repository_id: slug }) => slug)).toEqual(['other']);
  });

  it('D3: a newer version elsewhere is taken where the one at hand conflicts', async () => {
    const own = repository('mine', [a({ Depends: 'b, c' }), b(), c({ Conflicts: 'b' })]);
    const closure = await ask([own, repository('other', [c({ Version: '2' })])], { repositories: ['mine'] });
    expect(namesOf(closure)).toEqual(['a 1.0', 'b 1.0', 'c 2']);
    expect(closure.add.map(({ repository_id: slug }) => slug)).toEqual(['other']);
  });

  it('D3: a repository that turns out to be of no use, because of what another one brought, changes nothing', async () => {
    const own = repository('mine', [a({ Depends: 'b, c | d' }), c({ Version: '1' }), d()]);
    const first = [b({ Version: '1', Depends: 'e' }), c({ Version: '9', Depends: 'nowhere' })];
    const second = [b({ Version: '2' }), { Package: 'e' }];
    const repositories = [
      own,
      repository('first', first, { ranking: 1 }),
      repository('second', second, { ranking: 2 }),
    ];
    const closure = await ask(repositories, { repositories: ['mine'] });
    expect(namesOf(closure)).toEqual(['a 1.0', 'b 2', 'c 1']);
    expect(closure.add.map(({ repository_id: slug }) => slug)).toEqual(['second']);
  });

  it('D2: says of what another repository has in vain why that cannot be installed, and not that its version is another', async () => {
    const closure = await ask([mine, repository('other', [b({ Conflicts: 'a' })])], { repositories: ['mine'] });
    expect(closure).toMatchObject({ outcome: 'unmet', add: [] });
    expect(closure.unmet[0]?.alternatives).toEqual([
      { relation: 'b', reason: 'conflict', text: 'b 1.0 and a 1.0 cannot be installed together' },
    ]);
  });

  it('D3: former slugs count, and what is none is told', async () => {
    const own = repository('mine', [a()], { aliases: ['former'] });
    const closure = await ask([own], { repositories: ['z', 'former', 'nowhere'] });
    expect(closure).toMatchObject({ repositories: ['mine'], unknown_repositories: ['nowhere', 'z'], add: [] });
  });

  it('D3: a slug that two repositories had before leads to the better ranked one, as everywhere', async () => {
    const former = (slug: string, ranking: number) =>
      repository(slug, [a()], { ranking, aliases: ['former', 'third'] });
    const repositories = [former('first', 2), former('second', 3), repository('third', [a()], { ranking: 4 })];
    expect(await ask(repositories, { repositories: ['former'] })).toMatchObject({ repositories: ['first'] });
    close?.();
    expect(await ask(repositories, { repositories: ['third'] })).toMatchObject({ repositories: ['third'] });
  });

  it('D4: adds so many repositories and no more', async () => {
    const many = Array.from({ length: closureLimits.repositories + 1 }, (_, number) =>
      repository(`r${number}`, [{ Package: `p${number}` }]),
    );
    const needs = many.map((_, number) => `p${number}`).join(', ');
    const closure = await ask([repository('mine', [a({ Depends: needs })]), ...many], { repositories: ['mine'] });
    expect(closure.add).toHaveLength(closureLimits.repositories);
    expect(closure.unmet).toMatchObject([{ alternatives: [{ reason: 'repositories' }] }]);
  });
});
