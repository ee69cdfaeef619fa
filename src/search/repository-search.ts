import type { CatalogDatabase } from '../catalog/database.ts';
import { readRepositoryRows } from '../catalog/reading.ts';
import { joinWords, splitWords } from '../catalog/search-text.ts';
import type { RepositoryRecord } from '../contract/records.ts';
import { lastPage, type ResultPage } from './package-search.ts';
import { parseQuestion, type Question } from './question.ts';

interface Candidate {
  readonly slug: string;
  /** The address without the parts in which spellings may differ. */
  readonly address: string;
  readonly record: string;
  readonly keys: readonly string[];
  readonly titleWords: readonly string[];
  readonly allWords: readonly string[];
}

/**
 * Searches repositories by slug, former slugs, name, host name and description. There are only hundreds, so examining
 * each of them is faster than an index.
 */
export class RepositorySearch {
  readonly #candidates: readonly Candidate[];

  constructor(database: CatalogDatabase) {
    this.#candidates = readRepositoryRows(database).map(({ record, aliases }) => toCandidate(record, aliases));
  }

  /** One page of results, by class and within a class by ranking and slug; `page` counts from 1. */
  find(text: string, limit: number, page: number): ResultPage {
    const found = this.#rank(text);
    const start = (page - 1) * limit;
    const records = found.slice(start, start + limit).map(({ record }) => record);
    return {
      records: { count: records.length, pieces: [records.join(',')] },
      more: found.length > start + limit,
      last: lastPage(found.length, limit),
    };
  }

  /** The slugs of all results, in the same order. */
  locate(text: string): string[] {
    return this.#rank(text).map(({ slug }) => slug);
  }

  #rank(text: string): Candidate[] {
    // People who add a repository to a device know its address, or the link with which a package manager adds it.
    // Cydia's names it within an address of its own, and what follows it begins with "&". Nothing is asked for
    // behind it: an end to match would cost the cube of a text's length.
    const [, added = text] = /^[a-z]+:\/\/\S*(https?:\/\/[^\s&]+)/i.exec(text) ?? [];
    const url = URL.parse(added);
    const isAddress = url !== null && /^https?:$/.test(url.protocol);
    const question = parseQuestion(isAddress ? url.hostname : added);
    if (question === undefined) return [];
    const address = isAddress ? plainAddress(url) : undefined;
    const isThere = (candidate: Candidate): boolean => candidate.address === address;
    return this.#candidates
      .map((candidate) => ({ candidate, rank: rankOf(candidate, question) }))
      .filter(({ rank }) => rank < noMatch)
      .sort((a, b) => Number(isThere(b.candidate)) - Number(isThere(a.candidate)) || a.rank - b.rank)
      .map(({ candidate }) => candidate);
  }
}

const plainAddress = ({ host, pathname }: URL): string => host + pathname.replace(/\/$/, '');

const toCandidate = (record: string, aliases: readonly string[]): Candidate => {
  const { slug, name, description, origin_hostname, uri } = JSON.parse(record) as RepositoryRecord;
  const url = URL.parse(uri);
  const title = [slug, name ?? '', origin_hostname, ...aliases];
  const titleWords = title.flatMap(splitWords);
  return {
    slug,
    address: url === null ? uri : plainAddress(url),
    record,
    keys: title.map(joinWords),
    titleWords,
    allWords: [...titleWords, ...splitWords(description ?? '')],
  };
};

const noMatch = 4;

/** 0 exact, 1 the beginning of slug, name or host name, 2 every word in them, 3 every word anywhere. */
const rankOf = ({ keys, titleWords, allWords }: Candidate, { words, joined }: Question): number => {
  if (keys.includes(joined)) return 0;
  if (keys.some((key) => key.startsWith(joined))) return 1;
  const every = (candidates: readonly string[]) =>
    words.every((word) => candidates.some((candidate) => candidate.startsWith(word)));
  if (every(titleWords)) return 2;
  return every(allWords) ? 3 : noMatch;
};
