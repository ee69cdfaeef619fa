import { describe, expect, it } from 'vitest';
import { badgeSchema } from '../../src/contract/badge.ts';
import { badgeMarkdown, badgeWidth, composeBadge, drawBadge } from '../../src/site/badge.ts';

const since = '2026-11-20T23:59:59.999Z';
const badgeOf = (outcome?: 'fresh' | 'unchanged' | 'stale' | 'failed', service = 'Index', packages = 141) =>
  composeBadge({ service, packages, outcome: outcome && { outcome, since, code: null } });

/** The contrast of two colours (WCAG 2.2, relative luminance). */
const contrast = (one: string, other: string): number => {
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};

const all = [undefined, 'fresh', 'unchanged', 'stale', 'failed'] as const;

describe('a badge', () => {
  it('C4: says how the repository fares, and the same whenever that is the same', () => {
    expect(all.map((outcome) => badgeOf(outcome).message)).toEqual([
      '141 packages',
      '141 packages · fresh',
      '141 packages · fresh',
      'stale since 2026-11-20',
      'failed',
    ]);
    expect(badgeOf('fresh')).toEqual(badgeOf('unchanged'));
    expect(badgeOf('fresh', 'Index', 1).message).toBe('1 package · fresh');
    expect(badgeOf('fresh', 'Index', 12_345).message).toBe('12,345 packages · fresh');
    expect(composeBadge({ service: 'Index', packages: 1, outcome: { outcome: 'stale', code: null } }).message).toBe(
      'stale',
    );
    for (const outcome of all) {
      const badge = badgeSchema.parse(badgeOf(outcome));
      expect(badge.isError).toBe(outcome === 'failed');
    }
  });

  it('C4: says of a repository that answers, and whose data waits for the operator, that it is held back', () => {
    const heldBack = [{ code: 'index-shrunken' }];
    const messageOf = (code: string) =>
      composeBadge({ service: 'Index', packages: 1, outcome: { outcome: 'stale', since, code, heldBack } }).message;
    expect(messageOf('index-shrunken')).toBe('held back since 2026-11-20');
    expect(messageOf('timeout')).toBe('stale since 2026-11-20');
  });

  it('warns of a repository that the safety list names, however it fares', () => {
    for (const outcome of ['fresh', 'stale', 'failed'] as const) {
      const badge = composeBadge({ service: 'Index', packages: 1, outcome: { outcome, code: null }, isUnsafe: true });
      expect(badge).toMatchObject({ message: 'unsafe to add', color: badgeOf('failed').color, isError: true });
    }
  });

  it('C4: can be read on either side, by eye and aloud', () => {
    for (const outcome of all) {
      const badge = badgeOf(outcome);
      const drawing = drawBadge(badge);
      const grounds = [...drawing.matchAll(/<rect [^>]*fill="(#\w+)"/g)].map(([, colour = '']) => colour);
      expect(grounds).toEqual([badge.labelColor, badge.color]);
      expect(drawing).toContain('<g fill="#ffffff"');
      for (const ground of grounds) expect(contrast(ground, '#ffffff')).toBeGreaterThan(4.5);
      expect(drawing).toContain(' role="img" aria-labelledby="t"');
      expect(drawing).toContain(`<title id="t">Index: ${badge.message}</title>`);
    }
    const grounds = all.map((outcome) => badgeOf(outcome).color);
    expect(new Set(grounds).size).toBe(4);
  });

  it('C11: takes any name for text, in the drawing and in Markdown, and cuts what is too long for a line', () => {
    const evil = `</title><script>alert(1)</script>" onload="x\u0000\n&`;
    const drawing = drawBadge(badgeOf('fresh', evil));
    expect([...drawing.matchAll(/<(\/?[a-zA-Z]+)/g)].map(([, tag]) => tag)).toEqual(
      [...drawBadge(badgeOf('fresh')).matchAll(/<(\/?[a-zA-Z]+)/g)].map(([, tag]) => tag),
    );
    expect(drawing.match(/<svg [^>]*>/)?.[0]).not.toContain('onload');
    expect(drawing).not.toContain('\u0000');
    expect(drawing).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg")/);
    const long = badgeOf('fresh', '😀'.repeat(500));
    expect([...long.label]).toHaveLength(32);
    expect(badgeWidth(long)).toBeLessThan(600);
    expect(badgeOf('fresh', ' \n ').label).toBe('index');
    expect(
      badgeMarkdown(
        { label: 'A](http://evil.test) ![x <b> & `c`' },
        'a_b.c',
        'https://i.test/a.svg',
        'https://i.test/',
      ),
    ).toBe(
      '[![A\\]\\(http\\://evil.test\\) \\!\\[x \\<b\\> \\& \\`c\\` a\\_b.c](https://i.test/a.svg)](https://i.test/)',
    );
  });
});
