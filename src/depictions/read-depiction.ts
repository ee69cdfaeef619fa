import { webUrl } from '../apt/urls.ts';
import { limits } from '../contract/limits.ts';
import type { Block, Depiction } from './depiction.ts';
import { readMarkdown } from './markdown.ts';
import { readable } from './readable.ts';
import { readTint } from './tint.ts';

// Sileo's native depictions: a DepictionTabView whose tabs are stacks of views. Views in `readers` are shown. All
// others, such as buttons, web and video views and ratings, are skipped with everything in them.

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

const own = (fields: Fields, name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The state of one reading: the remaining limits, and what was found so far. */
class Reading {
  readonly sections: Depiction['sections'][number][] = [];
  readonly screenshots: Depiction['screenshots'][number][] = [];
  #characters: number = limits.depictionCharacters;
  #views: number = limits.depictionViews;

  /** Whether one more view may be read. */
  takeView(): boolean {
    this.#views--;
    return this.#views >= 0;
  }

  /** As much of a text as the limits allow. Numbers count as texts, because people write `"text": 1.5`. */
  take(value: unknown): string {
    const given = typeof value === 'number' ? String(value) : value;
    if (typeof given !== 'string') return '';
    const text = readable(given.slice(0, Math.max(0, this.#characters)));
    this.#characters -= text.length;
    return text;
  }

  /** The same on one line. */
  takeLine(value: unknown): string {
    return this.take(value).replace(/\s+/g, ' ').trim();
  }
}

/** What was found in a tab so far, with a mark for each skipped view. */
type Found = Block | { readonly kind: 'passed-over' };

type Reader = (view: Fields, reading: Reading, found: Found[], depth: number) => void;

const readTitle: Reader = (view, reading, found) => {
  const text = reading.takeLine(own(view, 'title'));
  if (text !== '') found.push({ kind: 'heading', line: [{ text }] });
};

const readViews: Reader = (view, reading, found, depth) => {
  if (depth >= limits.depictionDepth) return;
  for (const one of listOf(own(view, 'views'))) {
    if (!reading.takeView()) return;
    const fields = fieldsOf(one);
    const name = fields && own(fields, 'class');
    const reader = typeof name === 'string' && Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (fields === undefined || reader === undefined) found.push({ kind: 'passed-over' });
    else reader(fields, reading, found, depth + 1);
  }
};

const readScreenshots: Reader = (view, reading) => {
  for (const one of listOf(own(view, 'screenshots')).slice(0, limits.depictionScreenshots)) {
    if (reading.screenshots.length >= limits.depictionScreenshots) return;
    const fields = fieldsOf(one);
    const address = fields && own(fields, 'url');
    if (fields === undefined || typeof address !== 'string' || address.length > limits.lineCharacters) continue;
    const url = webUrl(address);
    if (url === null || own(fields, 'video') === true || reading.screenshots.some((known) => known.url === url))
      continue;
    reading.screenshots.push({
      url,
      text: reading.takeLine(own(fields, 'accessibilityText')).slice(0, 200).toWellFormed(),
    });
  }
};

/** Readers of the views that are shown, by class. */
const readers: Readonly<Record<string, Reader>> = {
  DepictionHeaderView: readTitle,
  DepictionSubheaderView: readTitle,
  DepictionStackView: readViews,
  DepictionAutoStackView: readViews,
  DepictionMarkdownView: (view, reading, found) => {
    found.push(...readMarkdown(reading.take(own(view, 'markdown'))));
  },
  DepictionLabelView: (view, reading, found) => {
    const text = reading.takeLine(own(view, 'text'));
    if (text !== '') found.push({ kind: 'paragraph', lines: [[{ text }]] });
  },
  DepictionTableTextView: (view, reading, found) => {
    const [title, text] = [reading.takeLine(own(view, 'title')), reading.takeLine(own(view, 'text'))];
    if (title !== '' && text !== '') found.push({ kind: 'fact', title, text });
  },
  DepictionSeparatorView: (_view, _reading, found) => {
    found.push({ kind: 'rule' });
  },
  DepictionScreenshotsView: readScreenshots,
};

/** Removes separators that separate nothing, and headings without content because it was skipped. */
const withoutIdle = (found: readonly Found[]): Block[] => {
  const blocks: Block[] = [];
  let next: 'nothing' | 'rule' | 'heading' | 'words' = 'nothing';
  let isPassedOver = false;
  for (const one of found.toReversed()) {
    const { kind } = one;
    if (kind === 'passed-over') {
      isPassedOver = true;
      continue;
    }
    if (kind === 'heading' && isPassedOver && next !== 'words') continue;
    isPassedOver = false;
    if (kind === 'rule' && (next === 'nothing' || next === 'rule')) continue;
    blocks.push(one);
    next = kind === 'rule' || kind === 'heading' ? kind : 'words';
  }
  if (blocks.at(-1)?.kind === 'rule') blocks.pop();
  return blocks.reverse();
};

const readTab = (tab: Fields, reading: Reading): void => {
  const found: Found[] = [];
  const title = reading.takeLine(own(tab, 'tabname')).slice(0, 80).toWellFormed();
  readViews(tab, reading, found, 0);
  const shown = withoutIdle(found);
  if (shown.length > 0) reading.sections.push({ title: title === '' ? null : title, blocks: shown });
};

/**
 * Converts the bytes of a native depiction to what may be shown of it. Undefined if they are not such JSON, or nothing
 * of it may be shown. The limits on depictions bound its time and its result, whatever the input.
 */
export const readDepiction = (bytes: Uint8Array): Depiction | undefined => {
  let given: unknown;
  try {
    given = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
  const root = fieldsOf(given);
  if (root === undefined) return undefined;
  const reading = new Reading();
  const tabs = own(root, 'tabs');
  // There may be a stack instead of a single tab.
  for (const tab of Array.isArray(tabs) ? tabs : [root]) {
    if (!reading.takeView()) break;
    const fields = fieldsOf(tab);
    if (fields !== undefined) readTab(fields, reading);
  }
  const { sections, screenshots } = reading;
  if (sections.length === 0 && screenshots.length === 0) return undefined;
  return { tint: readTint(own(root, 'tintColor')), sections, screenshots };
};
