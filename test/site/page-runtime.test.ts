import type { SSRResult } from 'astro';
import { addAttribute as attribute, markHTMLString } from 'astro/runtime/server/index.js';
import { describe, expect, it, vi } from 'vitest';
import { AlikePages } from '../../src/site/alike-pages.ts';
import {
  addAttribute,
  createComponent,
  Fragment,
  latestHead,
  maybeRenderHead,
  render,
  renderComponent,
  renderHead,
  renderPage,
  renderScript,
  renderSlot,
} from '../../src/site/page-runtime.ts';

// As much of what Astro renders with as is asked for.
const rendering = (resolve: (id: string) => Promise<string> = async (id) => `/assets/${id}.js`) =>
  ({
    styles: new Set([{ props: { rel: 'stylesheet', href: '/own.css' }, children: '' }]),
    links: new Set(),
    scripts: new Set(),
    inlinedScripts: new Map(),
    resolve,
    compressHTML: true,
    _metadata: {
      extraHead: [],
      renderedScripts: new Set(),
      templateDepth: 0,
      headInTree: true,
      propagators: new Set(),
    },
  }) as unknown as SSRResult;

const shown = (value: unknown): string => render`<p>${value}</p>`.text;

describe('the runtime of compiled pages', () => {
  it('C11: escapes text, and leaves what is markup as it is', () => {
    expect(shown(`<b title="x" id='y'>&`)).toBe('<p>&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;</p>');
    expect(shown(render`<b>${'<'}</b>`)).toBe('<p><b>&lt;</b></p>');
    expect(shown(markHTMLString('<i>'))).toBe('<p><i></p>');
    expect(shown(addAttribute('"', 'title'))).toBe('<p> title="&quot;"</p>');
  });

  it('C11: writes attributes as Astro does, whatever their names and values', () => {
    const names = [
      'href',
      'data-x',
      'class',
      'class:list',
      'style',
      'className',
      'hidden',
      'open',
      'popover',
      'a b',
      'x"',
    ];
    const values = ['x', '', `a & "b" <c> 'd'`, '&amp;', ['a', { b: true }], true, false, 0, undefined, null];
    for (const name of names) {
      for (const value of values) {
        expect(shown(addAttribute(value, name)), `${name} ${value}`).toBe(`<p>${attribute(value, name)}</p>`);
      }
    }
  });

  it('shows nothing of nothing, zero as zero, and what a list holds one after the other', () => {
    expect([undefined, null, false, '', []].map(shown)).toEqual(Array(5).fill('<p></p>'));
    expect([shown(0), shown(Number.NaN)]).toEqual(['<p>0</p>', '<p></p>']);
    expect(shown(['a', [render`<b></b>`, 1]])).toBe('<p>a<b></b>1</p>');
  });

  it('refuses what it does not know, by a sentence that names this file', () => {
    for (const value of [{}, Promise.resolve('x'), () => 'x', true]) {
      expect(() => shown(value)).toThrow(/src\/site\/page-runtime\.ts does not know/);
    }
  });

  it('renders components, fragments and elements, and slots where a component asks for them', () => {
    const own = rendering();
    const Box = createComponent((_, props, slots) => render`<i>${props.name}${renderSlot(own, slots.default)}</i>`);
    const slot = { default: () => render`<b></b>` };
    expect(shown(renderComponent(own, 'Box', Box, { name: '<' }, slot))).toBe('<p><i>&lt;<b></b></i></p>');
    expect(shown(renderComponent(own, 'Box', Box, { name: 'x' }))).toBe('<p><i>x</i></p>');
    expect(shown(renderSlot(own, undefined, () => 'else'))).toBe('<p>else</p>');
    expect(shown(renderComponent(own, 'Fragment', Fragment, {}, slot))).toBe('<p><b></b></p>');
    expect(shown(renderComponent(own, 'Tag', 'em', { title: 'x' }, slot))).toBe('<p><em title="x"><b></b></em></p>');
    expect(shown(renderComponent(own, 'Tag', 'br', {}))).toBe('<p><br/></p>');
    expect(() => renderComponent(own, 'Box', Box, { 'class:list': [] })).toThrow('<Box>');
    expect(() => renderComponent(own, 'Other', undefined as never, {})).toThrow('<Other>');
    const late = Object.assign(async () => render``, { isAstroComponentFactory: true });
    expect(() => renderComponent(own, 'Late', late as never, {})).toThrow('<Late> cannot be rendered');
    // What Astro would treat in a way of its own.
    const ofAstro = Object.assign(() => render`<hr>`, { isAstroComponentFactory: true });
    expect(() => renderComponent(own, 'Content', ofAstro as never, {}, slot)).toThrow('what is in it would be lost');
    expect(() => renderComponent(own, 'Box', Box, { 'server:defer': true })).toThrow('directive');
    expect(() => renderComponent(own, 'Tag', 'b', { class: 'a', 'class:list': ['b'] })).toThrow('directive');
    for (const tag of ['', 'b onclick=alert(1)', 'script>alert(1)</script', 'my-x']) {
      expect(() => renderComponent(own, 'Tag', tag, {})).toThrow(`no element of this name: ${tag}`);
    }
    expect(() => createComponent(() => null as never, 'here.astro')(own, {}, {})).toThrow('no template');
  });

  it('puts styles into the head once, and a script where it stands for the first time', async () => {
    const own = rendering();
    const page = createComponent(
      (given) => render`<head>${renderHead(given)}</head>${maybeRenderHead(given)}${renderScript(given, 'once')}`,
    );
    // Astro is given the place of a script that is not known yet, to wait for.
    const asked = page(own, {}, {}) as unknown as { htmlParts: string[]; expressions: Promise<unknown>[] };
    const style = '<link rel="stylesheet" href="/own.css">';
    expect(asked.htmlParts).toEqual([`<head>${style}</head>`, '']);
    const head = latestHead();
    if (head === undefined) throw new Error('no head');
    expect(renderPage(head, page, {})).toBeUndefined();
    await Promise.all(asked.expressions);
    const whole = `<!DOCTYPE html><head>${style}</head><script type="module" src="/assets/once.js"></script>`;
    expect(renderPage(head, page, {})).toBe(whole);
    expect(renderPage(head, page, {})).toBe(whole);
    const twice = createComponent((given) => render`${renderScript(given, 'once')}${renderScript(given, 'once')}`);
    expect(renderPage(head, twice, {})).toBe(`<!DOCTYPE html>${whole.slice(whole.indexOf('<script'))}`);
  });
});

describe('pages that are alike', () => {
  const page = createComponent((given, { id }) => render`<head>${renderHead(given)}</head>${id}`);
  const rendered = (id: string) => `<!DOCTYPE html><head><link rel="stylesheet" href="/own.css"></head>${id}`;
  const byAstro = (id: string, end = '') =>
    vi.fn(async () => {
      page(rendering(), { id }, {});
      return rendered(id) + end;
    });

  it('are rendered without Astro after the first, which is the same both ways', async () => {
    const alike = new AlikePages(page);
    const [first, second] = [byAstro('1'), byAstro('2')];
    expect(await alike.render({ id: '1' }, first)).toBe(rendered('1'));
    expect(await alike.render({ id: '2' }, second)).toBe(rendered('2'));
    expect([first, second].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  });

  it('are rendered without Astro too where the first shows half of a character, which is another one in bytes', async () => {
    const alike = new AlikePages(page);
    const [first, second] = [byAstro('\ud83d'), byAstro('2')];
    const inBytes = async () => Buffer.from(await first()).toString();
    expect(await alike.render({ id: '\ud83d' }, inBytes)).toBe(rendered('\ufffd'));
    expect(await alike.render({ id: '2' }, second)).toBe(rendered('2'));
    expect([first, second].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  });

  it('are rendered by Astro where one has a script that none had before', async () => {
    const withScript = createComponent(
      (given, { id }) => render`<head>${renderHead(given)}</head>${id === '2' ? renderScript(given, 'late') : id}`,
    );
    const alike = new AlikePages(withScript);
    const first = async () => {
      withScript(rendering(), { id: '1' }, {});
      return rendered('1');
    };
    await alike.render({ id: '1' }, first);
    expect(await alike.render({ id: '2' }, async () => 'by Astro')).toBe('by Astro');
    expect(await alike.render({ id: '3' }, async () => 'by Astro')).toBe(rendered('3'));
  });

  it('are rendered by Astro where one asks what only a request tells, be it the first', async () => {
    const asking = createComponent((given, props) => {
      const Astro = given.createAstro(props, null as never) as unknown as Record<string, unknown> & {
        props: typeof props;
      };
      // As compiled components do.
      Astro.self = asking;
      const shown = Astro.self === asking && (props.id === '2' ? Astro.url : Astro.props.id);
      return render`<head>${renderHead(given)}</head>${shown}`;
    });
    const withRequest = (id: string) =>
      vi.fn(async () => {
        asking({ ...rendering(), createAstro: (props: object) => ({ props, url: '2' }) } as never, { id }, {});
        return rendered(id);
      });
    for (const [order, asked] of [
      [
        ['1', '2', '3'],
        [1, 1, 0],
      ],
      [
        ['2', '1', '3'],
        [1, 1, 1],
      ],
    ] as const) {
      const alike = new AlikePages(asking);
      const requests = order.map(withRequest);
      for (const [index, id] of order.entries()) {
        expect(await alike.render({ id }, requests[index] as (typeof requests)[number])).toBe(rendered(id));
      }
      expect(requests.map(({ mock }) => mock.calls.length)).toEqual(asked);
    }
  });

  it('are all rendered by Astro where the first is another', async () => {
    const alike = new AlikePages(page);
    const [first, second] = [byAstro('1', '<!-- more -->'), byAstro('2')];
    expect(await alike.render({ id: '1' }, first)).toBe(`${rendered('1')}<!-- more -->`);
    expect(await alike.render({ id: '2' }, second)).toBe(rendered('2'));
    expect([first, second].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });
});
