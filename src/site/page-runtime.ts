/// <reference types="astro/client" />
// What compiled pages and components call in the place of Astro's own runtime (astro-inside.ts has them do so). Astro's
// renders whatever may be awaited or streamed, by objects that it goes through when all is known. Nothing on these pages
// is ever awaited, so here each template is a text as soon as it is met, which takes less than half of the time. What
// pages may not do here fails with a sentence that says so.

import type { SSRResult } from 'astro';
import {
  type AstroComponentFactory,
  addAttribute as attribute,
  chunkToString,
  createComponent as component,
  escapeHTML,
  Fragment,
  HTMLString,
  renderHead as head,
  maybeRenderHead as maybeHead,
  type RenderInstruction,
  renderScript as script,
  render as template,
  voidElementNames,
} from 'astro/runtime/server/index.js';

export { createAstro, spreadAttributes, unescapeHTML } from 'astro/runtime/server/index.js';
export { Fragment };

/** What a slot holds: nothing is made of it before it is asked for. */
type Slots = Readonly<Record<string, ((rendering: SSRResult) => unknown) | undefined>>;

/** Something that is put in at a place of a text when it is known. */
interface Gap {
  readonly at: number;
  readonly what: Promise<unknown>;
}

const none: readonly Gap[] = [];

/** What a template came to, and what it lacks: the address of a script that nobody asked for before. */
class Markup {
  readonly text: string;
  readonly gaps: readonly Gap[];

  constructor(text: string, gaps: readonly Gap[] = none) {
    this.text = text;
    this.gaps = gaps;
  }
}

const markupOf = (value: unknown): Markup | string => {
  if (typeof value === 'string') return escapeHTML(value);
  if (value instanceof Markup) return value;
  if (value === null || value === undefined || value === false || Number.isNaN(value)) return '';
  if (Array.isArray(value)) return joined(value);
  if (typeof value === 'number' || value instanceof HTMLString) return String(value);
  throw new Error(`A page shows a value of a kind that src/site/page-runtime.ts does not know: ${typeof value}`);
};

const joined = (values: readonly unknown[], parts: readonly string[] = []): Markup => {
  let text = parts[0] ?? '';
  let gaps = none;
  for (let index = 0; index < values.length; index++) {
    const one = markupOf(values[index]);
    if (typeof one === 'string') text += one;
    else {
      const before = text.length;
      if (one.gaps.length > 0) gaps = [...gaps, ...one.gaps.map(({ at, what }) => ({ at: before + at, what }))];
      text += one.text;
    }
    text += parts[index + 1] ?? '';
  }
  return new Markup(text, gaps);
};

/** The tag of compiled templates. */
export const render = (parts: TemplateStringsArray, ...values: readonly unknown[]): Markup => joined(values, parts);

export const renderSlot = (rendering: SSRResult, slot: Slots[string], fallback?: Slots[string]): unknown =>
  (slot ?? fallback)?.(rendering);

/** How attributes of a name begin whose values are written as they are; empty where Astro has a rule of its own. */
const beginnings = new Map<string, string>();

const beginningOf = (name: string): string => {
  const known = beginnings.get(name);
  if (known !== undefined) return known;
  const found = String(attribute('x', name)) === ` ${name}="x"` ? ` ${name}="` : '';
  beginnings.set(name, found);
  return found;
};

/** As Astro's own, which looks at each name anew, with regular expressions. */
export const addAttribute = (value: unknown, name: string): string | HTMLString | Markup => {
  const beginning = typeof value === 'string' && value !== '' ? beginningOf(name) : '';
  if (beginning === '') return attribute(value, name);
  return new Markup(`${beginning}${(value as string).replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`);
};

// What is known to come to the same here and there; what has a dash in its name has attributes of other rules.
const plainTag = /^[a-z][a-z\d]*$/;

const renderElement = (rendering: SSRResult, tag: string, props: Record<string, unknown>, slots: Slots): Markup => {
  if (!plainTag.test(tag)) throw new Error(`src/site/page-runtime.ts makes no element of this name: ${tag}`);
  const attributes = joined(Object.keys(props).map((name) => addAttribute(props[name], name))).text;
  const inside = joined(Object.values(slots).map((slot) => slot?.(rendering)));
  const isVoid = inside.text === '' && voidElementNames.test(tag);
  const raw = `<${tag}${attributes}${isVoid ? '/>' : '>'}`;
  return isVoid ? new Markup(raw) : joined([inside], [raw, `</${tag}>`]);
};

/** What compiled components are made of here. */
type Compose = (rendering: SSRResult, props: Record<string, unknown>, slots: Slots) => Markup;
const composeOf: unique symbol = Symbol('compose');
export type Component = AstroComponentFactory & { readonly [composeOf]?: Compose };

/** As Astro asks for it, of the page that it was told to render. */
const forAstro = ({ text, gaps }: Markup): ReturnType<typeof template> => {
  const ends = [...gaps.map(({ at }) => at), text.length];
  const parts = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
  return template(parts as unknown as TemplateStringsArray, ...gaps.map(({ what }) => what));
};

export const createComponent = (compose: Compose, moduleId?: string): Component => {
  const factory = component((...asked: Parameters<Compose>) => {
    const made: unknown = compose(...asked);
    if (made instanceof Markup) return forAstro(made);
    throw new Error(`A page that is no template cannot be rendered by src/site/page-runtime.ts: ${moduleId}`);
  }, moduleId);
  return Object.assign(factory, { [composeOf]: compose });
};

// What says how something is to be rendered, such as "class:list" and "server:defer", is for those who know of it.
const hasDirective = (props: Record<string, unknown>): boolean => {
  for (const name in props) if (name.includes(':')) return true;
  return false;
};

/** What Astro's own runtime made, as of Markdown. @throws Error where it waits for something */
const renderAtOnce = (rendering: SSRResult, name: string, made: ReturnType<AstroComponentFactory>): Markup => {
  let text = '';
  const write = (chunk: Parameters<typeof chunkToString>[1] | Response) => {
    if (!(chunk instanceof Response)) text += chunkToString(rendering, chunk);
  };
  if ('render' in made && made.render({ write }) === undefined) return new Markup(text);
  throw new Error(`<${name}> cannot be rendered by src/site/page-runtime.ts: it waits for something`);
};

/** @throws Error where a component is not one of Astro's, waits for something, or is told how it is to be rendered */
export const renderComponent = (
  rendering: SSRResult,
  name: string,
  used: Component | typeof Fragment | string,
  props: Record<string, unknown>,
  slots: Slots = {},
): unknown => {
  if (used === Fragment) return slots.default?.(rendering);
  if (hasDirective(props)) {
    throw new Error(`<${name}> cannot be rendered by src/site/page-runtime.ts: it has a directive of Astro's`);
  }
  if (typeof used === 'string') return renderElement(rendering, used, props, slots);
  if (typeof used !== 'function') {
    throw new Error(`<${name}> cannot be rendered by src/site/page-runtime.ts: it is no component of Astro's`);
  }
  const compose = used[composeOf];
  if (compose !== undefined) return compose(rendering, props, slots);
  if (Object.keys(slots).length > 0) {
    throw new Error(`<${name}> cannot be rendered by src/site/page-runtime.ts: what is in it would be lost`);
  }
  return renderAtOnce(rendering, name, used(rendering, props, slots));
};

const instruct = (rendering: SSRResult, instruction: RenderInstruction): Markup =>
  new Markup(chunkToString(rendering, instruction));

/** What was found out of scripts, by their names in the bundle. */
const scripts = new Map<string, RenderInstruction>();

export const renderScript = (rendering: SSRResult, id: string): Markup => {
  const known = scripts.get(id);
  if (known !== undefined) return instruct(rendering, known);
  const what = script(rendering, id).then((instruction) => {
    scripts.set(id, instruction);
    return instruction;
  });
  return new Markup('', [{ at: 0, what }]);
};

/** The styles and scripts that all pages of a route share, as Astro named them when it rendered one. */
export interface RouteHead {
  readonly rendering: SSRResult;
  readonly head: Markup;
}

let latest: RouteHead | undefined;
const headOfRoute: unique symbol = Symbol('head');
type OfRoute = SSRResult & { [headOfRoute]?: Markup };

const nothing = new Markup('');

export const maybeRenderHead = (rendering: OfRoute): Markup =>
  rendering[headOfRoute] === undefined ? instruct(rendering, maybeHead()) : nothing;

export const renderHead = (rendering: OfRoute): Markup => {
  const known = rendering[headOfRoute];
  if (known !== undefined) return known;
  latest = { rendering, head: instruct(rendering, head()) };
  return latest.head;
};

/** The head of the page that Astro rendered last. */
export const latestHead = (): RouteHead | undefined => latest;

const nothingElse = new Proxy(
  {},
  {
    get: (_, name) => {
      throw new Error(`Nothing but Astro.props is known where no request was made: Astro.${String(name)}`);
    },
  },
);

/**
 * What pages are told of that no request was made for. It is made for each component, and a class is what engines make
 * fastest. Compiled components write `self`, which would otherwise have to pass the proxy.
 */
class PropsAlone {
  readonly props: Record<string, unknown>;
  readonly self = undefined;

  constructor(props: Record<string, unknown>) {
    this.props = props;
  }
}
Object.setPrototypeOf(PropsAlone.prototype, nothingElse);

const propsAlone = (props: Record<string, unknown>): PropsAlone => new PropsAlone(props);

/**
 * A page of a route, without a request and an answer for it, of which nothing but `Astro.props` may be asked. Undefined
 * where it has a script that no page before it had.
 *
 * @throws Error as `renderComponent` does, and where more is asked
 */
export const renderPage = (
  { rendering, head: known }: RouteHead,
  page: Component,
  props: Record<string, unknown>,
): string | undefined => {
  const own: OfRoute = {
    ...rendering,
    [headOfRoute]: known,
    _metadata: { ...rendering._metadata, renderedScripts: new Set<string>() },
    createAstro: propsAlone as unknown as SSRResult['createAstro'],
  };
  const { text, gaps } = renderComponent(own, 'page', page, props) as Markup;
  return gaps.length === 0 ? `<!DOCTYPE html>${text}` : undefined;
};
