import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions } from '../../src/apt/version.ts';
import {
  describeVersions,
  endOfVersions,
  holdsVersion,
  parseVersion,
  writeVersion,
} from '../../src/compatibility/ios-versions.ts';
import { buildStatement, readExcluded, readStated } from '../../src/compatibility/statements.ts';

const architecture = 'iphoneos-arm64';
const runsOn = (fields: Partial<Parameters<typeof readStated>[0]>, ios: string): boolean =>
  !holdsVersion(readExcluded({ architecture, ...fields }), parseVersion(ios) ?? Number.NaN);

it('C14: what is asked of the device besides its iOS is told with where it stands, once, and cut short', () => {
  const asked = 'gsc.a | gsc.b | gsc.c | gsc.d, cy+cpu.arm64';
  const { demands, statements } = readStated({ architecture, depends: asked, preDepends: 'cy+cpu.arm64' });
  expect(demands).toEqual(['gsc.a or gsc.b or gsc.c', 'cy+cpu.arm64']);
  expect(statements.map(({ source, written }) => `${source} ${written}`)).toEqual([
    'Depends gsc.a or gsc.b or gsc.c',
    'Depends cy+cpu.arm64',
    'Pre-Depends cy+cpu.arm64',
  ]);
});

describe('C14: what relations to firmware say is what dpkg makes of them', () => {
  it.each([
    ['firmware (>= 14.0)', ['14.0', '14.0.1', '17.5'], ['13.7', '9.3.3']],
    ['firmware (>=14.0)', ['14.0'], ['13.7']],
    ['firmware(>= 12.2) ', ['12.2'], ['12.1.9']],
    ['firmware (<< 16)', ['15.8.3'], ['16.0', '16.7']],
    ['firmware (<= 9.3.3)', ['9.3.3', '9.3'], ['9.3.4', '9.3.5', '10.0']],
    ['firmware (<7.0)', ['7.0', '6.1'], ['7.0.1', '7.1']],
    ['firmware (>7.0)', ['7.0'], ['6.1']],
    ['firmware (>> 9)', ['9.0', '10.1'], ['8.4']],
    ['firmware (= 14.0)', ['14.0'], ['14.0.1', '13.7', '14.1']],
    ['firmware (14.0)', ['14.0'], ['14.1']],
    ['firmware (>= 14.0~beta2)', ['14.0'], ['13.7']],
    ['firmware:any (>= 13)', ['13.0'], ['12.5.7']],
    ['firmware (>= 14.0) | firmware (<< 12)', ['14.0', '11.4', '17.0'], ['12.0', '13.7']],
    ['mobilesubstrate, firmware (>= 6.0), firmware (<< 11.0), cydia', ['6.0', '10.3.3'], ['5.1', '11.0']],
    ['firmware (>= 3000)', [], ['1.0', '26.0']],
    // Another package satisfies these as well.
    ['firmware (>= 14.0) | libexpat1', ['12.0', '14.0'], []],
    ['firmware (>= 14.0) | ellekit2 (>= 99)', ['12.0', '14.0'], []],
    ['com.opa334.libundirect (>=1.0) | firmware (<<14.0)', ['14.0', '13.0'], []],
    // No relation to it, or none that dpkg can read.
    ['firmware', ['1.0', '26.0'], []],
    ['firmware-sbin, org.thebigboss.firmware (>= 9)', ['1.0'], []],
    ['firmware (>= )', ['1.0'], []],
    ['firmware (>= fourteen)', ['1.0'], []],
    ['firmware >= 14.0', ['1.0'], []],
    ['firmware (>= 14.0', ['1.0'], []],
  ])('%s', (depends, runs, doesNot) => {
    expect(runs.filter((ios) => !runsOn({ depends }, ios))).toEqual([]);
    expect(doesNot.filter((ios) => runsOn({ depends }, ios))).toEqual([]);
    expect([...runs, ...doesNot].map((ios) => runsOn({ preDepends: depends }, ios))).toEqual([
      ...runs.map(() => true),
      ...doesNot.map(() => false),
    ]);
  });

  it('Conflicts and Breaks say with what it cannot be installed, and a conflict without version says nothing', () => {
    expect(['14.8', '15.0', '16.7'].map((ios) => runsOn({ conflicts: 'other, firmware (>= 15.0)' }, ios))).toEqual([
      true,
      false,
      false,
    ]);
    expect(runsOn({ breaks: 'firmware (<< 13)' }, '12.5.7')).toBe(false);
    expect(runsOn({ conflicts: 'firmware' }, '12.5.7')).toBe(true);
  });

  it('several fields are all held to', () => {
    const fields = { depends: 'firmware (>= 13.0)', preDepends: 'firmware (<< 17.0)', conflicts: 'firmware (= 14.5)' };
    expect(['12.0', '13.0', '14.5', '14.5.1', '16.7', '17.0'].map((ios) => runsOn(fields, ios))).toEqual([
      false,
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  const spelled = fc
    .tuple(fc.nat(30), fc.option(fc.nat(9)), fc.option(fc.nat(12)), fc.constantFrom('', '', '~rc1', '-1', '+x'))
    .map(([major, minor, patch, rest]) => [major, minor, patch].filter((part) => part !== null).join('.') + rest);
  const operators: Record<string, (order: number) => boolean> = {
    '<<': (order) => order < 0,
    '<=': (order) => order <= 0,
    '=': (order) => order === 0,
    '>=': (order) => order >= 0,
    '>>': (order) => order > 0,
  };
  const relation = fc.tuple(fc.constantFrom(...Object.keys(operators)), spelled);
  const onGrid = fc.nat(endOfVersions - 1);

  it('for any relations and any version', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(relation, { minLength: 1, maxLength: 3 }), { maxLength: 4 }),
        onGrid,
        (groups, ios) => {
          const depends = groups
            .map((group) => group.map(([operator, version]) => `firmware (${operator} ${version})`).join(' | '))
            .join(', ');
          const device = writeVersion(ios);
          const satisfied = groups.every((group) =>
            group.some(([operator, version]) => operators[operator]?.(compareVersions(device, version))),
          );
          expect(runsOn({ depends }, device)).toBe(satisfied);
        },
      ),
    );
  });

  it('a least version that is greater never allows more', () => {
    fc.assert(
      fc.property(spelled, spelled, onGrid, (a, b, ios) => {
        const [less, greater] = compareVersions(a, b) <= 0 ? [a, b] : [b, a];
        const device = writeVersion(ios);
        if (runsOn({ depends: `firmware (>= ${greater})` }, device)) {
          expect(runsOn({ depends: `firmware (>= ${less})` }, device)).toBe(true);
        }
        if (runsOn({ depends: `firmware (<< ${less})` }, device)) {
          expect(runsOn({ depends: `firmware (<< ${greater})` }, device)).toBe(true);
        }
      }),
    );
  });
});

describe('C14: tags', () => {
  it('bound the versions, the greatest with all that begin with it', () => {
    const tags = ['purpose::theming', 'compatible_min::ios14.0', 'compatible_max::iOS16.5'];
    expect(['13.7', '14.0', '16.5', '16.5.1', '16.6'].map((ios) => runsOn({ tags }, ios))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(runsOn({ tags: ['compatible_max::ios16'] }, '16.7.10')).toBe(true);
    expect(runsOn({ tags: ['compatible_max::ios16'] }, '17.0')).toBe(false);
    expect(['16.5.1', '16.5.2'].map((ios) => runsOn({ tags: ['compatible_max::ios16.5.1'] }, ios))).toEqual([
      true,
      false,
    ]);
  });

  it('that name versions exclude none, and those that say nothing readable nothing', () => {
    const tags = ['compatible::ios11', 'compatible::ios12'];
    const stated = readStated({ architecture, tags });
    expect(runsOn({ tags }, '13.0')).toBe(true);
    expect(describeVersions(stated.named ?? [])).toBe('iOS 11 to 12');
    const unreadable = [
      'compatible_min::ios',
      'compatible_min::iosX',
      'compatible_min::14',
      'compatible_min::ios1.2.3.4',
    ];
    expect(readStated({ architecture, tags: unreadable }).statements).toEqual([]);
  });
});

describe('C14: the words of name and description', () => {
  const told = (name: string | null, description: string | null = null) => {
    const { statements, named } = readStated({ architecture, name, description });
    return [...statements.map(({ written }) => written), ...(named === undefined ? [] : [describeVersions(named)])];
  };

  it.each([
    ['Exsto (iOS 11)', ['iOS 11', 'iOS 11']],
    ['BETA: WaveFlow2 for iOS10', ['iOS10', 'iOS 10']],
    ['Frame (Rootfull iOS 13.0-13.7)', ['Rootfull', 'iOS 13.0-13.7', 'iOS 13 to 13.7']],
    ['Frame (Rootless iOS 14+)', ['Rootless', 'iOS 14+', 'iOS 14 or newer']],
    ['Thing [iOS 15 and up]', ['iOS 15 and up', 'iOS 15 or newer']],
    ['Thing (iOS 13 & up)', ['iOS 13 & up', 'iOS 13 or newer']],
    ['Thing (iOS 13 &up)', ['iOS 13 &up', 'iOS 13 or newer']],
    ['Thing (iOS 7 & below)', ['iOS 7 & below', 'iOS 7 or older']],
    ['Thing (iOS 13 & up to 14)', []],
    ['Thing (iOS 11, 12 & 14)', ['iOS 11, 12 & 14', 'iOS 11 to 12, 14']],
    ['iOS 8.3 Respring Logo', []],
    ['iOS 11 Icons', []],
    ['Passcodes for iOS 7-style locks', []],
    ['nslogify-ios', []],
    ['Not (iOS 2026)', []],
    ['Thing (not iOS 14)', []],
    ['Thing (iOS 14 unsupported)', []],
    ['Thing (up to iOS 14)', []],
    ['Thing (iOS 12 and up to 14)', []],
    ['Thing (below iOS 14)', []],
    ['Thing (>= iOS 14)', []],
    ['Thing (from iOS 14)', []],
    ['Thing (iOS 7 look)', []],
    ['Thing (iOS 16-14)', ['iOS 16-14', 'iOS 14 to 16']],
    ['Thing (iOS 14, Rootless)', ['Rootless', 'iOS 14', 'iOS 14']],
    ['Thing (iOS 12-14 arm64e)', ['iOS 12-14', 'iOS 12 to 14']],
    ['Thing (iOS 16 Lock Screen)', []],
    ['Colours for iOS 14 widgets', []],
    ['Thing (iOS 5, 6, 7, 8, 9, 10, 11, 12, 13)', ['iOS 5, 6, 7, 8, 9, 10, 11, 12, 13', 'iOS 5 to 13']],
  ])('of a name: %s', (name, words) => expect(told(name)).toEqual(words));

  it.each([
    ['Logs of everything. Supports iOS 7-13', ['iOS 7-13', 'iOS 7 to 13']],
    ['Support iOS 12 - 14', ['iOS 12 - 14', 'iOS 12 to 14']],
    ['Finds words. Support iOS 11-14.', ['iOS 11-14', 'iOS 11 to 14']],
    ['Please ask the author to support iOS 16', []],
    ['Hides an alert (iOS 9-13.x)', ['iOS 9-13.x', 'iOS 9 to 13']],
    ['Waves, compatible with iOS 9/10.', ['iOS 9/10', 'iOS 9 to 10']],
    ['OpenJDK 16 for iOS 12+', ['iOS 12+', 'iOS 12 or newer']],
    ['An old package. Requires iOS 7 and below.', ['iOS 7 and below', 'iOS 7 or older']],
    ['Works on iOS 12/13 or older, and for iOS 9 or lower', ['iOS 12/13 or older', 'iOS 13 or older']],
    ['A keyboard for iOS 9 or earlier', ['iOS 9 or earlier', 'iOS 9 or older']],
    ['Import iOS 16/15/14/13 shortcuts on iOS 12', []],
    ['iOS 11-style icon for Cydia', []],
    ['Process viewer, updated for iOS 13 by somebody', []],
    ['It is not compatible with iOS 16', []],
    ["It doesn't work anywhere and isn’t one that supports iOS 16", []],
    ['Needs a Mac with BIOS 14', []],
    ['Made by people who love rootless jailbreaks', []],
    // Versions of something else than what it runs on.
    ['Supports iOS 13 dark mode', []],
    ['Supports iOS 13’s dark mode. Works on iOS 11-13.', ['iOS 11-13', 'iOS 11 to 13']],
    ['Works with iOS 14 widgets and iOS 12-14', []],
    ['Requires iOS 12 to run', ['iOS 12', 'iOS 12']],
    ['Compatible with iOS 11-13 devices', ['iOS 11-13', 'iOS 11 to 13']],
    ['Supports iOS 12 and 64-bit processors', []],
    ['Supports iOS 12 and up to 14', []],
    ['Supports iOS 12 to the latest', []],
    ['Works on iOS 12 → 15.1', []],
    ['Fixes a crash for iOS 13 and 14', []],
    ['Sorts the dock (iOS 12 only)', ['iOS 12', 'iOS 12']],
    ['[iOS 12+] Sorts the dock', ['iOS 12+', 'iOS 12 or newer']],
    ['Sorts the dock, and the folders (iOS 12 only) too', []],
    // Other words that claim support, some only where a sentence begins with them.
    ['Hides the clock. tested on iOS12. Thanks to all', ['iOS12', 'iOS 12']],
    ['Only tested on iOS 13.5 and above', ['iOS 13.5 and above', 'iOS 13.5 or newer']],
    ['Tested on iOS 13.5 without problems', ['iOS 13.5', 'iOS 13.5']],
    ['Not tested on iOS 13', []],
    ['Tested on iOS 14 (does not work)', []],
    ['Tested on iOS 14, where it crashes', []],
    ['Please tell me when you have tested on iOS 14', []],
    ['Works for iOS 12', ['iOS 12', 'iOS 12']],
    ['Works for iOS 12/13/14', ['iOS 12/13/14', 'iOS 12 to 14']],
    ['Updated by Somebody to work on iOS10-iOS12. Hides it', ['iOS10-iOS12', 'iOS 10 to 12']],
    ['Will be updated to work on iOS 15', []],
    ['iOS 11-13 compatible', ['iOS 11-13', 'iOS 11 to 13']],
    ['Hides the clock, iOS 12 and newer are supported.', ['iOS 12 and newer', 'iOS 12 or newer']],
    ['Only iOS 12 is supported!', ['iOS 12', 'iOS 12']],
    ['Tries to make the clock iOS 12 compatible', []],
    ['iOS 12 compatible icons', []],
    ['iOS 12 is not supported', []],
    ['Everything below iOS 12 is supported', []],
    ['iOS 16 is supported soon', []],
    // Some of what is listed is not read, or denied.
    ['Support iOS 11 (not tried) - 12 (tried) - 13 (tried)', []],
    ['Supports iOS 14 (untested)', []],
    // Lines and items are sentences of their own, and others go on.
    ['A dock\nSorts it\nSupport iOS 12 - 13\nChanges: see there', ['iOS 12 - 13', 'iOS 12 to 13']],
    ['A dock\n - Sorts it\n - Support iOS 12-14 & its beta\n', ['iOS 12-14', 'iOS 12 to 14']],
    ['•support iOS 12/13\n•sorts', ['iOS 12/13', 'iOS 12 to 13']],
    ['A dock that sorts itself. Supports\niOS 12, 13\nand 14.', ['iOS 12, 13 and 14', 'iOS 12 to 14']],
    ['Works on iOS 12\n- 14', ['iOS 12 - 14', 'iOS 12 to 14']],
    ['Please write to the author to\nsupport iOS 15', []],
    ['A dock\n- Sorts it (iOS 13 only)\n- Hides it', []],
    ['A dock\n- Sorts it (iOS 13 only)\n- Supports iOS 11-13', ['iOS 11-13', 'iOS 11 to 13']],
    ['A dock\nv1.0.2: Sorted for iOS 9/10. Smaller.\n1.0.1-2: Supports iOS 8', []],
  ])('of a description: %j', (description, words) => expect(told(null, description)).toEqual(words));

  it('exclude no version', () => {
    expect(runsOn({ name: 'Exsto (iOS 11)', description: 'Supports iOS 11' }, '17.0')).toBe(true);
  });
});

describe('C14: a stranger’s fields', () => {
  it('of more than any honest package says are read so far, and never against the package', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `firmware (= ${at + 1}.0)`);
    expect(runsOn({ depends: many(32).join(' | ') }, '50.0')).toBe(false);
    expect(runsOn({ depends: many(33).join(' | ') }, '50.0')).toBe(true);
    const rangesOf = (count: number) =>
      buildStatement(readStated({ architecture, depends: many(count).join(' | ') }))?.firmware?.length;
    expect([rangesOf(2), rangesOf(8), rangesOf(9)]).toEqual([2, 8, 1]);
    const least = buildStatement(readStated({ architecture, depends: many(9).join(' | ') }))?.firmware;
    expect(describeVersions(least ?? [])).toBe('iOS 1 to 9.0');
  });

  it('never throw', () => {
    const part = fc.constantFrom(
      'firmware',
      '(',
      ')',
      '>=',
      '<<',
      '|',
      ',',
      '14.0',
      ' ',
      'iOS 1',
      '-',
      '::',
      'compatible_min',
      'for ',
      '+',
    );
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.array(part, { maxLength: 20 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, text, text, text, fc.array(text), (depends, conflicts, name, description, tags) => {
        const stated = readStated({
          architecture: 'all',
          depends,
          conflicts,
          breaks: depends,
          name,
          description,
          tags,
        });
        expect(buildStatement(stated)?.build).toBe('all');
      }),
    );
  });

  it('H7: take time in proportion to their length', () => {
    const kinds: Readonly<Record<string, (length: number) => Parameters<typeof readStated>[0]>> = {
      relations: (length) => ({ architecture, depends: 'firmware (>= 14.0), '.repeat(length / 20) }),
      'relations that exclude much': (length) => ({
        architecture,
        depends: Array.from({ length: length / 24 }, (_, n) => `firmware (= ${n % 99}.${n % 60}.${n % 61})`).join(
          ' | ',
        ),
        conflicts: Array.from({ length: length / 24 }, (_, n) => `firmware (= ${n % 98}.${n % 59}.${n % 63})`).join(
          ',',
        ),
      }),
      'a long version': (length) => ({ architecture, depends: `firmware (>= ${'1'.repeat(length)})` }),
      blanks: (length) => ({ architecture, depends: `firmware (${' '.repeat(length)}>= 1.0${' '.repeat(length)}x` }),
      'open brackets': (length) => ({ architecture, depends: `firmware ${'('.repeat(length)}` }),
      'a tag': (length) => ({ architecture, tags: [`compatible_min::ios${'1.'.repeat(length)}`] }),
      tags: (length) => ({ architecture, tags: Array.from({ length: length / 20 }, () => 'compatible_min::ios14.0') }),
      'a name': (length) => ({ architecture, name: `(iOS 1${' & iOS 1'.repeat(length / 8)}` }),
      'a description': (length) => ({ architecture, description: `supports iOS 1${'-'.repeat(length)}` }),
      'lines of a description': (length) => ({ architecture, description: `iOS 1${'\n- 1.1'.repeat(length / 6)}` }),
    };
    const cost = (fields: Parameters<typeof readStated>[0]): number => {
      const began = process.cpuUsage();
      buildStatement(readStated(fields));
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1000;
    };
    for (const [kind, make] of Object.entries(kinds)) {
      cost(make(2 ** 14));
      const [once, twice] = [cost(make(2 ** 19)), cost(make(2 ** 20))];
      expect(twice, kind).toBeLessThan(4 * once + 60);
    }
  });
});
