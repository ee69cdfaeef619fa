import { describe, expect, it } from 'vitest';
import { parsePackage } from '../../src/apt/packages-index.ts';
import { limits } from '../../src/contract/limits.ts';

const minimal = { package: 'a', version: '1', architecture: 'all', filename: './a.deb', size: '5' };

const parse = (fields: Record<string, string>) => parsePackage(new Map(Object.entries({ ...minimal, ...fields })));

const value = (fields: Record<string, string>) => {
  const parsed = parse(fields);
  if (!parsed.ok) throw new Error(parsed.finding);
  return parsed.value;
};

const findings = (fields: Record<string, string>): string[] => {
  const parsed = parse(fields);
  return parsed.ok ? parsed.findings : [parsed.finding];
};

describe('parsePackage', () => {
  it('reads a whole stanza', () => {
    expect(
      parse({
        name: 'A',
        'installed-size': '3',
        tag: 'x::y,\n cydia::commercial, ,',
        sha256: 'AB'.repeat(32),
        description: 'short\nlong\n.\n  kept',
        icon: 'https://x.example/i.png',
        'pre-depends': 'b (>= 1),\n c',
        essential: 'Yes',
      }),
    ).toEqual({
      ok: true,
      findings: [],
      fields: {},
      value: {
        ...minimal,
        size: 5,
        name: 'A',
        section: null,
        maintainer: null,
        author: null,
        description: 'short\nlong\n\n  kept',
        tags: ['x::y', 'cydia::commercial'],
        sha256: 'ab'.repeat(32),
        installedSize: 3072,
        icon: 'https://x.example/i.png',
        header: null,
        nativeDepiction: null,
        depiction: null,
        homepage: null,
        depends: null,
        preDepends: 'b (>= 1), c',
        recommends: null,
        suggests: null,
        conflicts: null,
        breaks: null,
        replaces: null,
        provides: null,
        enhances: null,
        multiArch: null,
        essential: true,
        priority: null,
      },
    });
  });

  it('C2: reads a folded field in time that grows with its length alone', () => {
    const name = `a\n  b\u0001${' '.repeat(4000)}c \n`;
    expect(value({ name }).name).toBe(`a b${' '.repeat(4000)}c`);
  });

  it.each(['package', 'version', 'architecture', 'filename'])('leaves out a stanza without %s', (field) => {
    expect(findings({ [field]: '' })).toEqual([`${field}-missing`]);
    const without = new Map(Object.entries(minimal));
    without.delete(field);
    expect(parsePackage(without)).toEqual({ ok: false, finding: `${field}-missing` });
  });

  it('leaves out identifiers with control characters, keeps versions that dpkg would refuse', () => {
    expect(findings({ package: 'a\0b' })).toEqual(['package-malformed']);
    expect(findings({ version: '1\n2' })).toEqual(['version-unreadable']);
    expect(findings({ architecture: 'all\u007f' })).toEqual(['architecture-malformed']);
    expect(findings({ filename: './a\u001b.deb' })).toEqual(['filename-malformed']);
    expect(findings({ architecture: 'a'.repeat(limits.identifierCharacters + 1) })).toEqual(['architecture-malformed']);
    expect(findings({ filename: 'a'.repeat(limits.lineCharacters + 1) })).toEqual(['filename-malformed']);
    expect(findings({ version: 'v1.0' })).toEqual(['version-malformed']);
    expect(value({ version: 'v1.0', package: 'Com.X_Y 1' })).toMatchObject({ version: 'v1.0', package: 'Com.X_Y 1' });
  });

  it('reads sizes as numbers of bytes, and what is none as absent', () => {
    expect(value({ size: '12345678901' }).size).toBe(12345678901);
    for (const size of ['-1', '1.5', '0x10', '1e3', 'abc', '9'.repeat(20)]) {
      expect(value({ size }).size).toBe(0);
      expect(findings({ size })).toEqual(['size-malformed']);
      expect(value({ 'installed-size': size }).installedSize).toBeNull();
    }
    expect(findings({ size: '' })).toEqual(['size-missing']);
    expect(findings({ sha256: 'abc' })).toEqual(['sha256-malformed']);
  });

  it('notices relations that APT cannot read, and keeps the package', () => {
    expect(findings({ depends: 'a, b (>= 1.0) | c', provides: 'd (= 1)' })).toEqual([]);
    const read = parsePackage(
      new Map(Object.entries({ ...minimal, depends: 'a', breaks: 'b [iphoneos-arm]', conflicts: ', c' })),
    );
    expect(read).toMatchObject({
      ok: true,
      value: { breaks: 'b [iphoneos-arm]' },
      findings: ['relation-malformed'],
      fields: { 'relation-malformed': 'conflicts: , c' },
    });
  });

  it('reads Tags for Tag, and SileoDepiction where Native-Depiction is absent or no web address', () => {
    expect(value({ tags: 'a' }).tags).toEqual(['a']);
    expect(value({ tags: 'a', tag: 'b' }).tags).toEqual(['b']);
    expect(value({ tag: ' , ' }).tags).toBeNull();
    expect(value({ sileodepiction: 'https://s.example/' }).nativeDepiction).toBe('https://s.example/');
    expect(
      value({ sileodepiction: 'https://s.example/', 'native-depiction': 'https://n.example/' }).nativeDepiction,
    ).toBe('https://n.example/');
    const malformed = (fields: Record<string, string>) =>
      parsePackage(new Map(Object.entries({ ...minimal, 'native-depiction': 'nowhere', ...fields })));
    expect(malformed({ sileodepiction: 'https://s.example/' })).toMatchObject({
      value: { nativeDepiction: 'https://s.example/' },
      findings: ['native-depiction-malformed'],
    });
    expect(malformed({ sileodepiction: 'nor this' })).toMatchObject({
      value: { nativeDepiction: null },
      findings: ['native-depiction-malformed'],
    });
  });

  it('C11: takes only http and https for URLs, and writes them for strict parsers', () => {
    for (const icon of [
      'file:///x.png',
      'x.png',
      'javascript:alert(1)',
      'https:x',
      'https:///',
      'https://a:b@x.example/',
    ]) {
      expect(value({ icon, homepage: icon }).icon).toBeNull();
      expect(findings({ icon })).toEqual(['icon-malformed']);
    }
    expect(value({ icon: 'https://x.example/a b|c%zz[1].png?q={a}#"' }).icon).toBe(
      'https://x.example/a%20b%7Cc%25zz%5B1%5D.png?q=%7Ba%7D#%22',
    );
    expect(value({ icon: 'HTTP://[::1]:80/é' }).icon).toBe('http://[::1]/%C3%A9');
  });

  it('takes control characters out of text, and blank text for absent', () => {
    expect(value({ name: 'a\0b\nc', description: '\n\nx\u0007 \ny\n.\n' })).toMatchObject({
      name: 'ab c',
      description: 'x\ny',
    });
    expect(value({ name: '\0', description: '\n.\n' })).toMatchObject({ name: null, description: null });
  });

  it('C9: leaves out an identifier that is longer than an address may hold, counted in bytes', () => {
    const read = (name: string) =>
      parsePackage(new Map([...Object.entries({ package: name, version: '1', architecture: 'a', filename: 'f' })]));
    for (const name of ['x'.repeat(255), '\u00e4'.repeat(127), '\u{1f4e6}'.repeat(63)])
      expect(read(name).ok).toBe(true);
    for (const name of ['x'.repeat(256), '\u00e4'.repeat(128), '\u{1f4e6}'.repeat(64), 'x'.repeat(5000)]) {
      expect(read(name)).toEqual({ ok: false, finding: 'package-malformed' });
    }
  });
});
