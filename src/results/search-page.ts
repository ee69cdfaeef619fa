import { encodeFolderName } from '../contract/filenames.ts';
import type { PackageOrder } from '../contract/parameters.ts';
import { searchPage } from '../contract/search-page.ts';
import { mostWords } from '../contract/search-words.ts';
import { calledBy, findCalled, type OfferedRepository, withoutRepo } from './called-repository.ts';
import { type Chosen, facetNames } from './chosen-facets.ts';
import { presentSlug } from './former-slugs.ts';
import type { FoundPackage, IndexTraits } from './found.ts';
import { readTraits, type ToldTraits } from './index-traits.ts';
import { escapeMarkup, wholeCharacters } from './markup.ts';
import type { Fit } from './meant.ts';
import { rowMarkup } from './row.ts';

// The search page is built once, without results. If there is a function, it sends the page with results, for browsers
// that run no scripts, and so that others need not ask again. The parts that are replaced are defined here for both.

/** The search field of the page, with the query. */
export const fieldMarkup = (question = ''): string =>
  `<input type="search" name="q"${question === '' ? '' : ` value="${escapeMarkup(question)}"`} placeholder="Name, identifier or author" aria-label="Search packages" autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="search">`;

/** The parts of the built page that are replaced. */
export const places = {
  facets: '<details id="facets" class="facets needs-script">',
  chosen: '<span class="chip" id="chosen-count" hidden></span>',
  status: '<p id="search-status" class="muted small count" role="status"></p>',
  fit: '<p id="fit" class="note weak" hidden></p>',
  results: '<ul id="results" class="list" data-grouped hidden></ul>',
  pages: '<nav id="more-pages" class="pager" aria-label="Pages" hidden></nav>',
  nothing: '<div id="nothing" class="card stack" hidden>',
  start: '<div id="start">',
} as const;

/**
 * The number of packages in words. `isMore`: only so many are known, and nobody counts the rest. The last `parts` match
 * only a part of a query; if all do, fitMarkup says so instead.
 */
export const countWords = (count: number, isMore: boolean, inPart = 0): string => {
  const parts = inPart === count ? 0 : inPart;
  const met = count - parts;
  const number = met.toLocaleString('en-US');
  const words = `${number} ${met === 1 ? 'package' : 'packages'}`;
  if (parts > 0) return `${words}, and ${isMore ? 'more' : parts.toLocaleString('en-US')} with all words but one`;
  return isMore ? `At least ${words}` : words;
};

/** The class of an item that matches only a part of a query. Style sheets draw a line before the first. */
export const partClass = 'part';

/** A sentence, as markup, if the query was not answered as it was asked; otherwise empty. */
export const fitMarkup = (fit: Fit, question: string, root: string): string => {
  if (fit.kind === 'asked') return '';
  if (fit.kind === 'cut') return `Of so many words only the first ${mostWords} are searched.`;
  if (fit.kind === 'part') return 'No package has all of these words. These have all but one of them.';
  const address = escapeMarkup(`${root}${searchPage.path}?q=${encodeURIComponent(wholeCharacters(fit.meant))}`);
  return `Nothing is spelt “<bdi>${escapeMarkup(question)}</bdi>”. Did you mean <a href="${address}" dir="auto">${escapeMarkup(fit.meant)}</a>?`;
};

/** Of how many repositories of one name the page leads to each. */
const mostCalled = 3;

const placeMarkup = (question: string, root: string, called: readonly OfferedRepository[]): string => {
  const among = (name: string, words: string) =>
    `<a href="${root}repository/#name=${encodeURIComponent(wholeCharacters(name))}">${words}</a>`;
  if (called.length === 0) return `Is it a repository? ${among(question, 'Look for it among the repositories')}.`;
  const links = called
    .slice(0, mostCalled)
    .map(
      ([slug, name]) =>
        `<a href="${escapeMarkup(`${root}repository/${encodeFolderName(slug)}`)}/" dir="auto">${name}</a>`,
    );
  if (called.length > mostCalled) links.push(among(withoutRepo(question), `${called.length - mostCalled} more`));
  return `Looking for the repository ${links.join(' or ')}?`;
};

/** A query without blanks that has a dot, as the address of a repository has. */
const mayBeAddress = /^\S+\.\S+$/;

/**
 * What is said above the results, as markup. A query that no package fits (`isNowhere`) may name a repository: its words
 * are in the part of that address which browsers do not send. So may an address, of which packages have "repo" or "com"
 * only. `called` are the repositories that are called as the query.
 */
export const noteMarkup = (
  fit: Fit,
  question: string,
  root: string,
  isNowhere: boolean,
  called: readonly OfferedRepository[],
): string => {
  const fitting = isNowhere && question !== '' ? '' : fitMarkup(fit, question, root);
  const isPlace = isNowhere ? question !== '' : fit.kind === 'part' && mayBeAddress.test(question);
  return [fitting, isPlace || called.length > 0 ? placeMarkup(question, root, called) : ''].filter(Boolean).join(' ');
};

const deviceNote =
  '<noscript><p class="note weak">Which of these run on your iPhone is told by JavaScript, which is off. Without it, choose the build under “Narrow and sort”.</p></noscript>';

/** A query to the page, and its results. */
export interface AnsweredSearch {
  readonly question: string;
  readonly chosen: Chosen;
  /** The order; undefined for relevance. */
  readonly sort: PackageOrder;
  /** From 1. */
  readonly page: number;
  readonly found: readonly FoundPackage[];
  /** Whether there is a page after this one. */
  readonly isMore: boolean;
  /** The number of the last page with results, if this page lies after it; otherwise at least the number of this one. */
  readonly last: number;
  readonly fit: Fit;
  /** Whether the address contains the visitor's device, which only scripts take into account. */
  readonly hasDevice: boolean;
  /** The path of the site on its host, with a trailing slash. */
  readonly root: string;
}

const addressOf = ({ question, chosen, sort, root }: AnsweredSearch, page: number): string => {
  const parameters = new URLSearchParams({ [searchPage.parameter]: question });
  // All parameters or none, as the form sends them, because some hosts match addresses by the names of all parameters.
  if (Object.keys(chosen).length > 0 || sort !== undefined) {
    for (const name of facetNames) parameters.set(name, chosen[name] ?? '');
    parameters.set(searchPage.order, sort ?? '');
  }
  if (page > 1) parameters.set('page', String(page));
  return escapeMarkup(`${root}${searchPage.path}?${parameters}`);
};

const pagesMarkup = (answer: AnsweredSearch): string => {
  const { page, isMore, last } = answer;
  if (page === 1 && !isMore) return places.pages;
  const before = Math.min(page - 1, last);
  const back = page > 1 ? `<a class="button" href="${addressOf(answer, before)}" rel="prev">Previous</a>` : '';
  const on = isMore ? `<a class="button" href="${addressOf(answer, page + 1)}" rel="next">Next</a>` : '';
  return places.pages.replace(' hidden>', `>${back}${on}`);
};

// Selects the option for a value, for a former slug that of the present one.
const choose = (html: string, chosen: Readonly<Record<string, string | undefined>>): string => {
  const [, former = ''] = / data-former="([^"]*)"/.exec(html) ?? [];
  let result = html;
  for (const [name, given] of Object.entries(chosen)) {
    const value = name === 'repository' && given !== undefined ? presentSlug(former, given) : given;
    const start = value === undefined ? -1 : result.indexOf(`<select name="${name}"`);
    if (start < 0) continue;
    const option = `<option value="${escapeMarkup(value ?? '')}"`;
    const at = result.indexOf(option, start);
    if (at < 0 || at > result.indexOf('</select>', start)) continue;
    result = `${result.slice(0, at + option.length)} selected${result.slice(at + option.length)}`;
  }
  return result;
};

/** The repositories that the built page offers as a filter, and that are called as the query. */
const findOffered = (built: string, question: string): readonly OfferedRepository[] => {
  const start = built.indexOf('<select name="repository"');
  const options = built.slice(start, built.indexOf('</select>', start));
  // Few queries name one, and to read the names of hundreds takes longer than the rest of the page.
  if (start < 0 || !options.toLowerCase().includes(calledBy(question))) return [];
  const offered = options.matchAll(/<option value="([^"]+)">([^<]*)/g);
  return findCalled(
    question,
    Array.from(offered, ([, slug = '', name = '']): OfferedRepository => [slug, name]),
  );
};

/**
 * The search page with results.
 *
 * @param built the page as it was built
 */
export const composeSearchPage = (built: string, answer: AnsweredSearch): string => {
  const { question, chosen, sort, page, found, isMore, fit, hasDevice, root } = answer;
  const isNothing = found.length === 0 && page === 1 && !isMore;
  const isNarrowed = Object.keys(chosen).length > 0;
  const rows = found
    .map((one) => `<li${one.isPart ? ` class="${partClass}"` : ''}>${rowMarkup(one, { root })}</li>`)
    .join('');
  const parts = found.filter(({ isPart }) => isPart).length;
  const count = Object.keys(chosen).length + (sort === undefined ? 0 : 1);
  // If nothing is found at all, scripts show a button that does the same as the link.
  const words =
    found.length === 0
      ? page > 1
        ? 'There are no more packages.'
        : isNarrowed
          ? `${isMore ? 'On this page nothing' : 'Nothing'} fits what is chosen. <a${isNothing ? ' class="without-script"' : ''} href="${addressOf({ ...answer, chosen: {} }, 1)}">Search without it</a>`
          : countWords(0, false)
      : page > 1
        ? `Page ${page}, ${countWords(found.length, false)}`
        : countWords(found.length, isMore, parts);
  // The results of earlier pages are unknown here.
  const called = isNarrowed || page > 1 ? [] : findOffered(built, question);
  const fitting = page > 1 ? '' : noteMarkup(fit, question, root, isNothing && !isNarrowed, called);
  // With functions wherever strangers' text is put in, because it may contain replacement patterns.
  const replaced: readonly (readonly [string, string])[] = [
    [fieldMarkup(), fieldMarkup(question)],
    [places.facets, places.facets.replace(' needs-script', '')],
    [places.chosen, count === 0 ? places.chosen : places.chosen.replace(' hidden>', `>${count} chosen`)],
    [places.status, places.status.replace('></p>', ` data-answered>${words}</p>${hasDevice ? deviceNote : ''}`)],
    [places.fit, fitting === '' ? places.fit : places.fit.replace(' hidden></p>', () => `>${fitting}</p>`)],
    [places.results, found.length === 0 ? places.results : places.results.replace(' hidden>', () => `>${rows}`)],
    [places.pages, pagesMarkup(answer)],
    [places.nothing, isNothing ? places.nothing.replace(' hidden', '') : places.nothing],
    [places.start, places.start.replace('>', ' hidden>')],
  ];
  const html = replaced.reduce(
    (text, [from, to]) => text.replace(from, () => to),
    choose(built, { ...chosen, [searchPage.order]: sort }),
  );
  return html
    .replace(/<noscript>.*?<\/noscript>/s, '')
    .replace(/<link rel="canonical"[^>]*>/, '<meta name="robots" content="noindex">')
    .replace('<title>', () => `<title>${escapeMarkup(question)} · `);
};

/** The built page with a sentence instead of results: why there are none. The chosen values stay. */
export const composeRefusal = (
  built: string,
  question: string,
  chosen: Parameters<typeof choose>[1],
  sentence: string,
): string =>
  choose(built, chosen)
    .replace(fieldMarkup(), () => fieldMarkup(question))
    .replace(places.status, () => places.status.replace('></p>', () => `>${escapeMarkup(sentence)}</p>`))
    .replace(/<link rel="canonical"[^>]*>/, '<meta name="robots" content="noindex">');

/** What the built page knows about the index. */
export const readBuiltTraits = (built: string): IndexTraits => {
  const told = (name: keyof ToldTraits) => new RegExp(` data-${name}="([^"]*)"`).exec(built)?.[1];
  const [stale, held, unsafe, alike, served] = (['stale', 'held', 'unsafe', 'alike', 'served'] as const).map(told);
  return readTraits({ stale, held, unsafe, alike, served }, built.includes(' id="device-bar"'));
};
