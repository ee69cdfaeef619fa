import { stageOf } from '../contract/version-stage.ts';
import { hueOf } from './hue.ts';
import { cutText, escapeMarkup } from './markup.ts';
import { lettersOf } from './monogram.ts';
import { notchesOf, notchOf } from './notches.ts';
import { packageAddress } from './package-address.ts';

// The row of a package in a list, wherever it is made: in a page of the build, in an answer of the function, or in the
// browser. So all rows look alike, and strangers' text is escaped in a single place.

/** The content of a package's row. */
export interface RowCard {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** One line of its description; empty if it has none. */
  readonly summary: string;
  /** The address of its own icon. */
  readonly icon: string | undefined;
  readonly paid: boolean;
  readonly architectures: readonly string[];
  /** The name of its repository. */
  readonly place: string;
  /** What its builds state about iOS devices (compatibility, judgement); undefined in an index without any for them. */
  readonly runs: string | undefined;
  /** What is wrong with its repository; undefined if nothing is. */
  readonly trouble?: Trouble | undefined;
}

/** Why not to add a repository, which the safety list names, or why nothing of it was taken last. */
export type Trouble = 'unsafe' | 'failing' | 'held';

const troubles: Readonly<Record<Trouble, string>> = {
  unsafe: '<span class="chip poor">Unsafe</span>',
  failing: '<span class="chip poor">In trouble</span>',
  held: '<span class="chip fair">Held back</span>',
};

interface RowOptions {
  /** The path of the site on its host, with a trailing slash. */
  readonly root?: string;
  /** Whether it names the repository. In the list of a single one it does not. */
  readonly place?: boolean;
  /** What the list is ordered by, in a few words. */
  readonly note?: string | undefined;
}

/** The most characters of texts of any length from strangers. */
const longest = { name: 200, line: 160, version: 64, place: 80 } as const;

/** The same, with long texts shortened as in the row, and no architectures that it does not show. */
export const withinRow = (card: RowCard): RowCard => ({
  ...card,
  name: cutText(card.name, longest.name),
  summary: cutText(card.summary, longest.line),
  place: cutText(card.place, longest.place),
  architectures: card.architectures.filter((one) => notchOf(one) !== undefined),
});

const text = (value: string, length: number): string => escapeMarkup(cutText(value, length));

// A word that is too long for a phone with letters twice as large may break at its capitals, dots and slashes, because many
// packages are named after their identifier. Without lookbehind: browsers run this, too, and before iOS 16.4 they would
// refuse the whole script.
const longWord = /[\p{L}\p{N}._/]{13,}/gu;
const longWordOfTitle = /[\p{L}\p{N}._/]{10,}/gu;
const lastBeforeBreak = /\p{Ll}(?=\p{Lu})|\p{Lu}(?=\p{Lu}\p{Ll})|[._/](?=[\p{L}\p{N}])/gu;

/** A name in a list. */
export const nameMarkup = (name: string): string =>
  text(name, longest.name).replace(longWord, (word) => word.replaceAll(lastBeforeBreak, '$&<wbr>'));

/** A name as the title of a page, in larger letters. */
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
  const { id, name, version, summary, paid, architectures, runs, trouble } = card;
  const stage = stageOf(version);
  const from = [
    stage === undefined ? '' : `<span class="chip new">${stage}</span>`,
    paid ? '<span class="chip fair">Paid</span>' : '',
    note === undefined ? '' : `<span class="ordering">${escapeMarkup(note)}</span>`,
    // The page of a single repository has said so above its list.
    place && trouble !== undefined ? troubles[trouble] : '',
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
