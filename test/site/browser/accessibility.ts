import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

// What axe finds in a row, a card or a word of code it finds in those before it that are made alike, and it takes seconds
// for a thousand of them.
const shortenLists = `(() => {
  const told = ({ name, value }) => name + (/^(?:class|style|type|role|dir|hidden|tabindex)$/.test(name) ? '=' + value : '');
  const made = (one) => one.nodeName + [...one.attributes].map(told) + '(' + [...one.childNodes].map((node) =>
    node.nodeType === 1 ? made(node) : node.nodeType === 3 && node.data.trim() ? 'text' : '').join(' ') + ')';
  const shorten = (one) => {
    const times = new Map();
    for (const [place, child] of [...one.children].entries()) {
      const how = made(child);
      times.set(how, (times.get(how) ?? 0) + 1);
      if (times.get(how) > 2 || (place > 15 && child.matches('ul > *, ol > *, tbody > *'))) child.remove();
      else shorten(child);
    }
  };
  shorten(document.querySelector('main'));
})()`;

/**
 * How words and fields look: what they are, their letters, the colours and grounds of all that they lie in, and whether
 * other words stand beside them, of which a link must differ. Leaves in `document.found` the first of each look, and in
 * `document.shown` all that was shown so far; returns the looks, with an empty one for each that is shown for the first time.
 */
const findLooks = `(() => {
  const told = (one, names) => names.map((name) => one[name]).join();
  const grounds = new Map([[null, '']]);
  const groundsOf = (one) => {
    if (!grounds.has(one)) {
      const style = getComputedStyle(one);
      const ground = told(style, ['backgroundColor', 'backgroundImage', 'opacity', 'filter', 'mixBlendMode']);
      const isOwn = one.parentElement === null || style.color !== getComputedStyle(one.parentElement).color;
      const isSeen = ground !== 'rgba(0, 0, 0, 0),none,1,none,normal';
      grounds.set(one, groundsOf(one.parentElement) + (isSeen ? ' on ' + ground : '') + (isOwn ? ' in ' + style.color : ''));
    }
    return grounds.get(one);
  };
  const hasWords = ({ childNodes }) => [...childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  const shown = document.shown ??= new Set();
  const looks = new Map();
  const fresh = [];
  for (const one of document.querySelectorAll('body *')) {
    if (!one.checkVisibility()) continue;
    if (!shown.has(one)) fresh.push(one);
    shown.add(one);
    if (!(hasWords(one) || one.matches('input, select, textarea'))) continue;
    const letters = told(getComputedStyle(one), ['fontSize', 'fontWeight', 'textShadow', 'textDecorationLine', 'display', 'position']);
    const look = [one.nodeName, hasWords(one.parentElement), letters, groundsOf(one)].join();
    if (!looks.has(look)) looks.set(look, one);
  }
  document.found = [...looks.values(), ...fresh];
  return [...looks.keys(), ...fresh.map(() => '')];
})()`;

/** What axe finds on a page into which it was loaded, in a context of its kind: by all of its rules unless told otherwise. */
const findViolations = async (page: Page, context: string, options: object): Promise<string[]> =>
  // No rule that is enabled asks for style sheets, which it would read anew.
  page.evaluate(`axe.run(${context}, ${JSON.stringify({ ...options, resultTypes: ['violations'], preload: false })}).then(
    ({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html).join(' | ')))`);

/** Looks with axe at pages of one style, and at what several of them have alike once. */
export class Accessibility {
  /** What stands around the main part of the pages at which it has looked, or is about to: many have the same. */
  readonly #surroundings = new Set<string>();
  /** The looks of words that it has judged. */
  readonly #judged = new Set<string>();
  /** What around the main part of a page it needs not look at. */
  readonly #known = new WeakMap<Page, readonly string[]>();

  /** Loads axe into a page, whose lists are shorter from then on: again where the page was loaded again. */
  async load(page: Page): Promise<void> {
    await page.evaluate(shortenLists);
    await page.evaluate(axe);
  }

  /** Loads axe into a page at which nobody has looked. */
  async begin(page: Page): Promise<void> {
    await this.load(page);
    const known: string[] = [];
    for (const part of ['body > header', 'body > footer']) {
      const html = await page.locator(part).evaluate((one) => one.outerHTML);
      if (this.#surroundings.has(html)) known.push(part);
      this.#surroundings.add(html);
    }
    this.#known.set(page, known);
  }

  /** Expects nothing of all that the page shows: by all rules, unless told otherwise. */
  async expectAll(page: Page, options: object = {}): Promise<void> {
    const known = this.#known.get(page) ?? [];
    const context = JSON.stringify({ include: [['html']], exclude: known.map((part) => [part]) });
    expect(await findViolations(page, context, options)).toEqual([]);
    for (const look of (await page.evaluate(findLooks)) as string[]) this.#judged.add(look);
    this.#judged.delete('');
  }

  /** Expects nothing of what the page shows for the first time, and of words that look as none did before. */
  async expectNew(page: Page): Promise<void> {
    const looks = (await page.evaluate(findLooks)) as string[];
    const fresh = looks.flatMap((look, index) => (this.#judged.has(look) ? [] : [index]));
    for (const look of looks) if (look !== '') this.#judged.add(look);
    if (fresh.length === 0) return;
    const context = `{ include: ${JSON.stringify(fresh)}.map((index) => document.found[index]) }`;
    // What was shown before was judged by all rules, and only those of colours, letters and sizes can find it otherwise.
    const isShownBefore = fresh.every((index) => looks[index] !== '');
    const options = isShownBefore ? { runOnly: ['cat.color', 'cat.sensory-and-visual-cues'] } : {};
    expect(await findViolations(page, context, options)).toEqual([]);
  }
}
