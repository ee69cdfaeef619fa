import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/contract/limits.ts';
import { type Block, type Depiction, depictionSchema } from '../../src/depictions/depiction.ts';
import { readMarkdown } from '../../src/depictions/markdown.ts';
import { readDepiction } from '../../src/depictions/read-depiction.ts';
import { contrastOf, readTint } from '../../src/depictions/tint.ts';
import { grounds, showDepiction } from '../../src/site/depiction-view.ts';

const read = (value: unknown): Depiction | undefined => {
  const depiction = readDepiction(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
  // What is made of anything may be kept.
  if (depiction !== undefined) depictionSchema.parse(depiction);
  return depiction;
};
const tabs = (...views: readonly unknown[]) => ({
  class: 'DepictionTabView',
  minVersion: '0.1',
  tabs: [{ tabname: 'Details', class: 'DepictionStackView', views }],
});
const blocksOf = (...views: readonly unknown[]): readonly Block[] => read(tabs(...views))?.sections[0]?.blocks ?? [];
const markdown = (text: string) => ({ class: 'DepictionMarkdownView', markdown: text });
const textOf = (depiction: Depiction | undefined): string => JSON.stringify(depiction ?? null);

describe('a native depiction', () => {
  it('C11: is read to its words, facts, pictures and colour, and nothing else of it', () => {
    const depiction = read({
      ...tabs(
        {
          class: 'DepictionScreenshotsView',
          itemSize: '{1, 2}',
          screenshots: [{ url: 'https://p.example/1.png', accessibilityText: 'Dark' }],
        },
        markdown('**New** words, [here](https://a.example/x).'),
        { class: 'DepictionSeparatorView' },
        { class: 'DepictionHeaderView', title: 'Facts' },
        { class: 'DepictionTableTextView', title: 'Version', text: 1.5 },
        { class: 'DepictionStackView', views: [{ class: 'DepictionLabelView', text: 'Small print' }] },
        { class: 'DepictionTableButtonView', title: 'Press me', action: 'https://b.example/' },
        { class: 'DepictionWebView', URL: 'https://w.example/' },
        { class: 'DepictionImageView', URL: 'https://w.example/i.png' },
      ),
      tintColor: 'rgb(12, 128, 90)',
      headerImage: 'https://h.example/h.png',
    });
    expect(depiction).toEqual({
      tint: '#0c805a',
      screenshots: [{ url: 'https://p.example/1.png', text: 'Dark' }],
      sections: [
        {
          title: 'Details',
          blocks: [
            {
              kind: 'paragraph',
              lines: [
                [
                  { style: 'strong', text: 'New' },
                  { text: ' words, ' },
                  { text: 'here', href: 'https://a.example/x' },
                  { text: '.' },
                ],
              ],
            },
            { kind: 'rule' },
            { kind: 'heading', line: [{ text: 'Facts' }] },
            { kind: 'fact', title: 'Version', text: '1.5' },
            { kind: 'paragraph', lines: [[{ text: 'Small print' }]] },
          ],
        },
      ],
    });
  });

  it('C11: shows facts that follow each other as one list, and invites to pictures by the host that they come from', () => {
    const fact = (title: string): Block => ({ kind: 'fact', title, text: 'x' });
    const paragraph: Block = { kind: 'paragraph', lines: [[{ text: 'between' }]] };
    const shots = (...urls: readonly string[]) => urls.map((url) => ({ url, text: '' }));
    const show = (screenshots: Depiction['screenshots']) =>
      showDepiction(
        { tint: null, sections: [{ title: null, blocks: [fact('a'), fact('b'), paragraph, fact('c')] }], screenshots },
        'https://a.example/d.json',
      );
    const [section] = show([])?.sections ?? [];
    expect(
      section?.parts.map((part) => (part.kind === 'facts' ? part.facts.map(({ title }) => title) : part.kind)),
    ).toEqual([['a', 'b'], 'paragraph', ['c']]);
    expect(show([])?.screenshots).toBeUndefined();
    expect(show(shots('https://p.example/1'))?.screenshots).toEqual({
      invitation: 'Show the screenshot from p.example',
      list: [{ url: 'https://p.example/1', text: 'Screenshot 1' }],
    });
    const many = shots('https://p.example/1', 'https://q.example/2', 'https://r.example/3');
    expect(show(many.slice(0, 2))?.screenshots?.invitation).toBe('Show 2 screenshots from p.example and one more host');
    expect(show(many)?.screenshots?.invitation).toBe('Show 3 screenshots from p.example and 2 more hosts');
  });

  it('C11: leaves out headings of nothing but what is passed over, and lines that part nothing', () => {
    const line = { class: 'DepictionSeparatorView' };
    const heading = (title: string) => ({ class: 'DepictionHeaderView', title });
    const button = { class: 'DepictionTableButtonView', title: 'Press me', action: 'https://b.example/' };
    const views = [
      line,
      heading('1.0'),
      heading('1.1'),
      line,
      line,
      heading('Main'),
      heading('Links'),
      button,
      button,
      line,
    ];
    const kept = [...views, heading('Mixed'), button, markdown('words'), line, heading('Social'), button];
    const words = blocksOf(...kept).map((block) => (block.kind === 'heading' ? block.line[0]?.text : block.kind));
    expect(words).toEqual(['1.0', '1.1', 'rule', 'Mixed', 'paragraph']);
  });

  it('C11: keeps its tabs apart, in their order, and leaves out those without words', () => {
    const tab = (tabname: unknown, text: string) => ({ tabname, class: 'DepictionStackView', views: [markdown(text)] });
    const depiction = read({
      tabs: [tab('Details', 'a'), tab('Empty', ' '), tab('Changelog', 'b'), tab(7, 'c'), null, 'x'],
    });
    expect(depiction?.sections.map(({ title }) => title)).toEqual(['Details', 'Changelog', '7']);
    expect(read({ class: 'DepictionStackView', views: [markdown('alone')] })?.sections).toHaveLength(1);
  });

  it('C11: follows no address but those over http(s) that name no user', () => {
    const bad = [
      'javascript:alert(1)',
      'JAVASCRIPT:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,<script>1</script>',
      'vbscript:x',
      'file:///etc/passwd',
      'https://user:word@a.example/',
      'depiction-https://a.example/',
      '//a.example/',
      '/here',
    ];
    for (const url of bad) {
      const depiction = read(
        tabs(markdown(`[words](${url}) ![words](${url}) <${url}> <a href="${url}">words</a>`), {
          class: 'DepictionScreenshotsView',
          screenshots: [{ url }],
        }),
      );
      expect(textOf(depiction), url).not.toContain(`"href":"${url.slice(0, 4)}`);
      for (const block of depiction?.sections[0]?.blocks ?? []) {
        if (block.kind === 'paragraph')
          for (const piece of block.lines.flat())
            if (piece.href !== undefined) expect(piece.href).toMatch(/^https?:\/\/(?!user)/);
      }
      expect(depiction?.screenshots).toEqual([]);
    }
  });

  it('C11: has no markup of HTML, whatever its Markdown holds', () => {
    const html =
      '<h3>New</h3><style>p{color:red}</style>One<br>two <b onclick="x()">three</b><script>alert(1)</script><ul><li>four</li></ul><!-- five --><p>six &lt;b&gt; &amp;amp; &#128512; &#xD800;';
    expect(readMarkdown(html)).toEqual([
      { kind: 'heading', line: [{ text: 'New' }] },
      { kind: 'paragraph', lines: [[{ text: 'One' }], [{ text: 'two three' }]] },
      { kind: 'list', ordered: false, lines: [[{ text: 'four' }]] },
      { kind: 'paragraph', lines: [[{ text: 'six <b> &amp; 😀 &#xD800;' }]] },
    ]);
    expect(readMarkdown('a <script>b')).toEqual([{ kind: 'paragraph', lines: [[{ text: 'a' }]] }]);
    expect(readMarkdown('a <!-- b')).toEqual([{ kind: 'paragraph', lines: [[{ text: 'a' }]] }]);
    expect(readMarkdown('a <svg class="x"/> b')).toEqual([{ kind: 'paragraph', lines: [[{ text: 'a  b' }]] }]);
    // No element, so it is text, and a page escapes it.
    expect(readMarkdown('2 < 3, vector<int> and <https://a.example/>')).toEqual([
      {
        kind: 'paragraph',
        lines: [
          [
            { text: '2 < 3, vector<int> and <' },
            { text: 'https://a.example/', href: 'https://a.example/' },
            { text: '>' },
          ],
        ],
      },
    ]);
  });

  it('C11: takes out what turns the direction of other words, and what nobody sees', () => {
    const [block] = blocksOf({
      class: 'DepictionLabelView',
      text: 'a\u202Eb\u2066c\u200Fd\u0000e\u0007\uFEFF\uD800 👩‍💻',
    });
    expect(block).toEqual({ kind: 'paragraph', lines: [[{ text: 'abcde\uFFFD 👩‍💻' }]] });
    expect(read({ tabs: [{ tabname: '\u202Egpj', views: [markdown('x')] }] })?.sections[0]?.title).toBe('gpj');
  });

  it('C2: looks at so many views, so deep, and keeps so much text and so many pictures, and no more', () => {
    const many = tabs(
      ...Array.from({ length: 9000 }, (_, place) => ({ class: 'DepictionLabelView', text: `${place}` })),
    );
    expect(read(many)?.sections[0]?.blocks.length).toBe(limits.depictionViews - 1);
    const deep = (depth: number): unknown =>
      depth === 0 ? markdown('deep') : { class: 'DepictionStackView', views: [deep(depth - 1)] };
    expect(textOf(read(tabs(deep(limits.depictionDepth - 1))))).toContain('deep');
    expect(read(tabs(deep(limits.depictionDepth)))).toBeUndefined();
    expect(read('['.repeat(200_000))).toBeUndefined();
    expect(read(`{"tabs":${'['.repeat(90_000)}${']'.repeat(90_000)}}`)).toBeUndefined();
    expect(read(`${'{"tabs":[{"views":'.repeat(9000)}[]${'}]}'.repeat(9000)}`)).toBeUndefined();
    const long = read(tabs(markdown('long '.repeat(40_000)), { class: 'DepictionLabelView', text: 'after' }));
    expect(textOf(long).length).toBeLessThan(limits.depictionCharacters + 500);
    expect(textOf(long)).not.toContain('after');
    const screenshots = Array.from({ length: 900 }, (_, place) => ({ url: `https://p.example/${place % 400}.png` }));
    expect(read(tabs({ class: 'DepictionScreenshotsView', screenshots }))?.screenshots).toHaveLength(
      limits.depictionScreenshots,
    );
    const moving = [
      { url: 'https://p.example/1.mp4', video: true },
      { url: 'https://p.example/1.png', video: false },
    ];
    expect(
      read(tabs({ class: 'DepictionScreenshotsView', screenshots: moving }))?.screenshots.map(({ url }) => url),
    ).toEqual(['https://p.example/1.png']);
    const same = Array.from({ length: 9 }, () => ({ url: 'https://p.example/1.png' }));
    expect(read(tabs({ class: 'DepictionScreenshotsView', screenshots: same }))?.screenshots).toHaveLength(1);
    const endless = [{ url: `https://p.example/${'x'.repeat(limits.lineCharacters)}.png` }];
    expect(read(tabs({ class: 'DepictionScreenshotsView', screenshots: endless }))).toBeUndefined();
  });

  it('C10: names such as __proto__ and repeated keys change nothing', () => {
    expect(read('{"__proto__":{"tabs":[{"views":[{"class":"DepictionLabelView","text":"x"}]}]}}')).toBeUndefined();
    expect(
      blocksOf(
        { class: 'constructor', text: 'x' },
        { class: '__proto__' },
        { class: 'toString', title: 'x' },
        { class: ['DepictionLabelView'], text: 'x' },
      ),
    ).toEqual([]);
    const twice = read(
      '{"tabs":[],"tabs":[{"views":[{"class":"DepictionWebView","class":"DepictionLabelView","text":"a","text":"b"}]}]}',
    );
    expect(twice?.sections[0]?.blocks).toEqual([{ kind: 'paragraph', lines: [[{ text: 'b' }]] }]);
    expect(({} as { tabs?: unknown }).tabs).toBeUndefined();
  });

  it('C8: what is no depiction is none', () => {
    for (const text of [
      '',
      '<html></html>',
      'null',
      '[]',
      '7',
      '"x"',
      '{',
      '{}',
      '{"tabs":7}',
      '{"tabs":[{"views":{"0":1}}]}',
    ])
      expect(read(text), text).toBeUndefined();
    expect(readDepiction(Uint8Array.of(0x7b, 0xff, 0x7d))).toBeUndefined();
  });
});

describe('Markdown', () => {
  it('C11: is read by its usual rules', () => {
    expect(
      readMarkdown(
        '# One #\nTwo\n===\nplain_with_under_scores\nline *b*\n\n- a\n- b\n  more\n\n1. c\n2) d\n\n> said\n\n***\n\n```\n<b> *x*\n```\n`code` \\*plain\\* ![p](https://a.example/p.png)',
      ),
    ).toEqual([
      { kind: 'heading', line: [{ text: 'One' }] },
      { kind: 'heading', line: [{ text: 'Two' }] },
      {
        kind: 'paragraph',
        lines: [[{ text: 'plain_with_under_scores' }], [{ text: 'line ' }, { style: 'emphasis', text: 'b' }]],
      },
      { kind: 'list', ordered: false, lines: [[{ text: 'a' }], [{ text: 'b more' }]] },
      { kind: 'list', ordered: true, lines: [[{ text: 'c' }], [{ text: 'd' }]] },
      { kind: 'paragraph', lines: [[{ text: 'said' }]] },
      { kind: 'rule' },
      { kind: 'code', text: ' *x*' },
      {
        kind: 'paragraph',
        lines: [
          [{ text: 'code', style: 'code' }, { text: ' *plain* ' }, { text: 'p', href: 'https://a.example/p.png' }],
        ],
      },
    ]);
    expect(readMarkdown('a_b_ c and __d__')).toEqual([
      { kind: 'paragraph', lines: [[{ text: 'a_b_ c and ' }, { style: 'strong', text: 'd' }]] },
    ]);
    expect(readMarkdown('see https://a.example/b_(c), and (https://d.example/).')).toEqual([
      {
        kind: 'paragraph',
        lines: [
          [
            { text: 'see ' },
            { text: 'https://a.example/b_(c)', href: 'https://a.example/b_(c)' },
            { text: ', and (' },
            { text: 'https://d.example/', href: 'https://d.example/' },
            { text: ').' },
          ],
        ],
      },
    ]);
  });

  it('C11: ends a long address between characters, however many units they are of', () => {
    const address = `https://a.example/${'a'.repeat(1989)}😀`;
    expect(readMarkdown(`${address}bc`)).toEqual([
      { kind: 'paragraph', lines: [[{ text: address, href: encodeURI(address) }, { text: 'bc' }]] },
    ]);
  });

  // Six times what is kept of a depiction; what grew by its square would take far longer.
  it('H7: is read in a time that grows as the text does', () => {
    const patterns = [
      '*',
      '_a ',
      '**a',
      '[',
      '[a](',
      '![',
      '[![a](b',
      '`',
      '<',
      '<a ',
      '<style>',
      '<!--',
      '&#',
      'h',
      'http://a(',
      '> ',
      '- ',
      '#',
      '\\',
      '1.',
      '(',
      '[a](http://a.example/()',
      '<script></script ',
      '\n```\n',
      '* * ',
    ];
    for (const pattern of patterns) {
      const text = pattern.repeat(Math.ceil(100_000 / pattern.length)).slice(0, 100_000);
      const before = process.cpuUsage();
      readMarkdown(text);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000, pattern).toBeLessThan(4000);
    }
  });
});

describe('the tint of a depiction', () => {
  it('C11: is a colour or nothing', () => {
    expect(['#0C5', '#00cc55', '#00cc5580', 'rgb(0, 204, 85)', 'rgba(0,204,85,0.5)'].map(readTint)).toEqual(
      Array.from({ length: 5 }, () => '#00cc55'),
    );
    expect([
      readTint('rgb(300, 9, 999)'),
      read({ ...tabs(markdown('x')), tintColor: 'rgb(300, 9, 999)' })?.tint,
    ]).toEqual(['#ff09ff', '#ff09ff']);
    for (const none of ['red', '', '#12', 'url(x)', '#00cc55;x', 'rgb(1,2)', 7, null, '"><script>', 'rgb(999999,1,1)'])
      expect(readTint(none)).toBeNull();
  });

  it('C11: is shown only where it is seen in both themes, whose grounds are those of the pages', () => {
    const tokens = readFileSync(path.join(import.meta.dirname, '..', '..', 'src', 'layouts', 'tokens.css'), 'utf8');
    expect(/--ground: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/.exec(tokens)?.slice(1)).toEqual([...grounds]);
    expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.478, 2);
    const shown = (tint: string) =>
      showDepiction({ tint, sections: [], screenshots: [] }, 'https://a.example/d.json')?.tint;
    expect(['#ffffff', '#000000', '#ffff00', '#1a7f64'].map(shown)).toEqual([
      undefined,
      undefined,
      undefined,
      '#1a7f64',
    ]);
  });
});
