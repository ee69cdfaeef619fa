import { stageOf } from '../contract/version-stage.ts';
import { cutText, escapeMarkup } from './markup.ts';
import { hueOf, lettersOf } from './monogram.ts';
import { notchesOf } from './notches.ts';
import { packageAddress } from './package-address.ts';

// The row of a package in a list, wherever it is made: in a page of the build, in an answer of the function, or in the
// browser. There is one so that all of them look alike, and that text of strangers is escaped in one place.

/** What a row shows of a package. */
export interface RowCard {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** One line of its description; empty where it has none. */
  readonly summary: string;
  /** The address of an icon of its own. */
  readonly icon: string | undefined;
  readonly paid: boolean;
  readonly architectures: readonly string[];
  /** The name of the repository that it is from. */
  readonly place: string;
  /** What its builds state of devices with iOS (compatibility, judgement); undefined in an index with none for them. */
  readonly runs: string | undefined;
}

interface RowOptions {
  /** Where the site lies on its host, with a slash at its end. */
  readonly root?: string;
  /** Whether it names the repository: not in the list of one. */
  readonly place?: boolean;
  /** What the list orders by, in a few words. */
  readonly note?: string | undefined;
}

/** The most characters of what strangers write as long as they like. */
const longest = { name: 200, line: 160, version: 64, place: 80 } as const;

/** The same without what its row leaves out of long texts. */
export const withinRow = (card: RowCard): RowCard => ({
  ...card,
  name: cutText(card.name, longest.name),
  summary: cutText(card.summary, longest.line),
  place: cutText(card.place, longest.place),
});

const text = (value: string, length: number): string => escapeMarkup(cutText(value, length));

// A word that no phone has room for breaks where its own capitals and points say: many packages are called as their
// identifier. Without looking behind: browsers run this too, and before iOS 16.4 theirs would load nothing that does.
const longWord = /[\p{L}\p{N}._]{17,}/gu;
const longWordOfTitle = /[\p{L}\p{N}._]{12,}/gu;
const lastBeforeBreak = /\p{Ll}(?=\p{Lu})|[._](?=[\p{L}\p{N}])/gu;
const nameMarkup = (name: string): string =>
  text(name, longest.name).replace(longWord, (word) => word.replaceAll(lastBeforeBreak, '$&<wbr>'));

/** A name as the title of a page, whose letters are larger. */
export const titleMarkup = (name: string): string =>
  escapeMarkup(name).replace(longWordOfTitle, (word) => word.replaceAll(lastBeforeBreak, '$&<wbr>'));

const tileMarkup = ({ id, name, icon }: RowCard): string => {
  const image =
    icon === undefined
      ? ''
      : `<img src="${escapeMarkup(icon)}" data-fallback="" width="44" height="44" loading="lazy" decoding="async" referrerpolicy="no-referrer" alt="">`;
  return `<span class="monogram hue-${hueOf(id)}" aria-hidden="true">${escapeMarkup(lettersOf(name))}${image}</span>`;
};

const notchMarkup = (architectures: readonly string[]): string => {
  const notches = notchesOf(architectures);
  if (notches.length === 0) return '';
  const each = notches.map(
    ({ kind, word }) => `<span class="notch ${kind}"><span class="hidden-label">${word}</span></span>`,
  );
  return `<span class="notches" title="${notches.map(({ word }) => word).join(', ')}">${each.join('')}</span>`;
};

/** The row of a package, as markup. */
export const rowMarkup = (card: RowCard, { root = '/', place = true, note }: RowOptions = {}): string => {
  const { id, name, version, summary, paid, architectures, runs } = card;
  const stage = stageOf(version);
  const from = [
    stage === undefined ? '' : `<span class="chip new">${stage}</span>`,
    paid ? '<span class="chip fair">Paid</span>' : '',
    note === undefined ? '' : `<span class="ordering">${escapeMarkup(note)}</span>`,
    place ? `<span class="place" dir="auto">${text(card.place, longest.place)}</span>` : '',
  ].join('');
  return [
    `<div class="row"${runs === undefined ? '' : ` data-runs="${escapeMarkup(runs)}"`} data-package="${escapeMarkup(id)}">`,
    tileMarkup(card),
    `<div class="body"><a class="name" href="${escapeMarkup(root + packageAddress(id))}" dir="auto">${nameMarkup(name)}</a>`,
    `<p class="end mono" dir="auto">${text(version, longest.version)}</p>`,
    `<p class="line" dir="auto">${text(summary || id, longest.line)}</p>`,
    from === '' ? '' : `<p class="from">${from}</p>`,
    `</div>${notchMarkup(architectures)}</div>`,
  ].join('');
};
