import type { RecordList } from '../catalog/record-list.ts';
import { wholeTerm } from '../catalog/search-document.ts';
import type { SearchReading } from '../catalog/search-reading.ts';
import { foldText } from '../catalog/search-text.ts';
import type { Steps } from '../dependencies/work.ts';
import { Candidates, type Classified } from './candidate-documents.ts';
import { findCorrections } from './corrections.ts';
import { looserAnswers } from './looser-answers.ts';
import {
  anyWhole,
  beginning,
  everyWord,
  parseQuestion,
  type Question,
  termColumns,
  whole,
  wordColumns,
} from './question.ts';

/** One page of results, without the records. */
export interface LocatedPage {
  /** The numbers of the documents, in order. */
  readonly ids: readonly number[];
  /** Whether there is a page after this one. */
  readonly more: boolean;
  /** The number of the last page with results, if this page is that one or lies after it; otherwise less is known. */
  readonly last: number;
  /** How many of these, at the end, match all words but one. */
  readonly parts: number;
}

export interface ResultPage {
  readonly records: RecordList;
  /** Whether there is a page after this one. */
  readonly more: boolean;
  /** The number of the last page with results, if this page is that one or lies after it; otherwise less is known. */
  readonly last: number;
  /** How many of these, at the end, match only a part of the query. */
  readonly parts?: number;
}

/** The documents found: those that match and, after them, those that match all words but one. */
export interface Found {
  readonly ids: readonly number[];
  /** How many of them match. */
  readonly fitting: number;
}

// A document with the query's only word inside a word contains the whole query.
const foundOf = ({ words }: Question, found: ReadonlySet<number>, exact: number): Found => ({
  ids: [...found],
  fitting: words.length > 1 ? exact : found.size,
});

/** Adds documents of a class until there are enough; whether there are enough now. */
const fill = (found: Set<number>, ids: readonly number[], wanted: number): boolean => {
  for (const id of ids) {
    found.add(id);
    if (found.size === wanted) return true;
  }
  return false;
};

/** The number of the last page of that many results; the first page is there without any. */
export const lastPage = (results: number, limit: number): number => Math.max(1, Math.ceil(results / limit));

/** The part of the results that belongs on a page. */
export const pageOf = ({ ids, fitting }: Found, limit: number, page: number): LocatedPage => {
  const end = page * limit;
  const start = end - limit;
  const own = ids.slice(start, end);
  return {
    ids: own,
    more: ids.length > end,
    last: lastPage(ids.length, limit),
    parts: own.length - Math.min(own.length, Math.max(0, fitting - start)),
  };
};

const nothing: Found = { ids: [], fitting: 0 };
const noRecords: RecordList = { count: 0, pieces: [] };

/** Paging reaches no results beyond this many: nobody reads them, and finding them all would slow down everybody. */
export const furthestResult = 10_000;

/** If more packages than this have the same name, their spelling is not compared. */
const mostSpelled = 250;

/**
 * If there are fewer results than this, and none has the query as its name, the name may be mistyped, so packages with
 * similar names follow. If more names than this are similar, that means nothing.
 */
const fewFound = 4;

/** Fewer documents than this with one of several words are examined one by one. */
const manyCandidates = 32;

/** Fewer documents than this with all words are always examined, because texts tell more than the index. */
const manyWithAll = 128;

/**
 * Searches package records. Results come in classes, the best first. Each class is one query that gives documents
 * ordered by number, which is their rank, so the first page of the broadest query reads little more than it answers.
 * searchTables describes the number, and `#classes` the order.
 */
export class PackageSearch {
  readonly #reading: SearchReading;
  readonly #candidates: Candidates;

  constructor(reading: SearchReading) {
    this.#reading = reading;
    this.#candidates = new Candidates(reading);
  }

  /** One page of results; `page` counts from 1. A page past the end is empty. */
  find(text: string, limit: number, page: number): ResultPage {
    const { ids, ...rest } = this.locate(text, limit, page);
    return { ...rest, records: this.read(ids) };
  }

  /** The same without the records, which have to be read separately. */
  locate(text: string, limit: number, page: number): LocatedPage {
    const question = parseQuestion(text);
    // One more tells whether there is a page after it.
    const wanted = Math.min(page * limit + 1, furthestResult);
    return pageOf(question === undefined ? nothing : this.#collect(question, limit, wanted), limit, page);
  }

  /**
   * All results that pages of this size can reach, the best first. It is computed in steps, because there may be many.
   */
  *locateAll(text: string, limit: number): Steps<Found> {
    const question = parseQuestion(text);
    return question === undefined ? nothing : yield* this.#collecting(question, limit, furthestResult);
  }

  /** The records of these documents, in the given order. `isBeginning`: an answer begins with them. */
  read(ids: readonly number[], isBeginning = false): RecordList {
    return ids.length === 0 ? noRecords : this.#reading.records(ids, isBeginning);
  }

  /** The numbers of the first `wanted` results: those that match and, if there are fewer than `limit`, looser ones. */
  #collect(question: Question, limit: number, wanted: number): Found {
    const found = new Set<number>();
    for (const ids of this.#classes(question, wanted, () => found.size)) if (fill(found, ids, wanted)) break;
    const exact = found.size;
    if (exact < limit) {
      for (const ids of looserAnswers(this.#reading, question, wanted)) if (fill(found, ids, wanted)) break;
    }
    return foundOf(question, found, exact);
  }

  /** The same in steps, which cost a tenth more. */
  *#collecting(question: Question, limit: number, wanted: number): Steps<Found> {
    const found = new Set<number>();
    for (const ids of this.#classes(question, wanted, () => found.size)) {
      if (fill(found, ids, wanted)) break;
      yield;
    }
    const exact = found.size;
    if (exact < limit) {
      for (const ids of looserAnswers(this.#reading, question, wanted)) {
        if (fill(found, ids, wanted)) break;
        yield;
      }
    }
    return foundOf(question, found, exact);
  }

  /**
   * The first documents of each class of results, the best class first. A class may repeat documents of earlier ones,
   * so each contains as many as are wanted in all.
   */
  *#classes(question: Question, wanted: number, found: () => number): Generator<readonly number[]> {
    const { text, words, joined, dotted } = question;
    const find = (expression: string) => this.#reading.match(expression, wanted);
    // Most queries are no whole name or identifier. One query for three columns finds that out.
    const isWhole = this.#reading.match(whole('key identifier segment', wholeTerm(joined)), 1).length > 0;
    if (isWhole) {
      // The same number for every page, so that all pages have one order.
      const same = this.#reading.match(whole('key identifier', wholeTerm(joined)), Math.max(wanted, mostSpelled));
      yield this.#spelledSo(same, text);
    }
    const begun = find(beginning('key', wholeTerm(joined)));
    yield begun;
    if (dotted) yield find(beginning('identifier', wholeTerm(joined)));
    if (isWhole) yield find(whole('segment', wholeTerm(joined)));
    const byWords = this.#classifyFew(question) ?? this.#classifyByIndex(words, begun.length, find);
    yield byWords.name;
    yield byWords.segment;
    yield byWords.author;
    if (!dotted) yield find(beginning('identifier', wholeTerm(joined)));
    yield byWords.description;
    const few = found();
    const isUnknown = few === 0 || words.length === 1;
    if (isUnknown || (few < fewFound && !isWhole)) yield* this.#corrected(question, find, isUnknown);
  }

  /**
   * Among names that differ only in punctuation ("x-dev", "x++-dev"), puts those first that are spelled as in the
   * query.
   */
  #spelledSo(ids: readonly number[], text: string): readonly number[] {
    if (ids.length < 2) return ids;
    const few = ids.slice(0, mostSpelled);
    const spelled = new Set(
      this.#reading
        .names(few)
        .filter(({ name, identifier }) => [name ?? '', identifier].map(foldText).includes(text))
        .map(({ id }) => id),
    );
    const others = ids.filter((id) => !spelled.has(id));
    return [...few.filter((id) => spelled.has(id)), ...others];
  }

  /**
   * The classes of a query with several words, if few documents contain its longest word, which is usually the rarest,
   * or all of its words. Undefined otherwise.
   */
  #classifyFew(question: Question): Classified | undefined {
    const { words, joined } = question;
    const [longest] = words.toSorted((a, b) => b.length - a.length);
    // A word may occur twice, as in scripts in which each character is a word.
    if (longest === undefined || longest === joined) return undefined;
    let few = this.#reading.match(beginning(wordColumns, longest), manyCandidates);
    if (few.length < manyCandidates) return this.#candidates.classify(few, question);
    few = this.#reading.match(everyWord(wordColumns, words), manyWithAll);
    return few.length === manyWithAll ? undefined : this.#candidates.classify(few, question);
  }

  /**
   * The classes of a query by its words, taken from the index when they are needed. Each class contains the one before:
   * when all documents that match in any column have been found, further columns need not be searched. `begun` is the
   * number of names that begin with the query; if there are many, the search in all columns is put off.
   */
  #classifyByIndex(words: readonly string[], begun: number, find: (expression: string) => number[]): Classified {
    const all = begun < manyCandidates ? find(everyWord(wordColumns, words)) : undefined;
    let found: number[] = [];
    const findIn = (columns: string) => {
      if (found.length !== all?.length) found = find(everyWord(columns, words));
      return found;
    };
    return {
      get name() {
        return findIn('name');
      },
      get segment() {
        return findIn('name segment');
      },
      get author() {
        return findIn(termColumns);
      },
      get description() {
        return all ?? findIn(wordColumns);
      },
    };
  }

  /**
   * Documents that match after correcting one mistake in the whole query and, if its words are `unknown`, in one of
   * them.
   */
  *#corrected(
    { words, joined }: Question,
    find: (expression: string) => number[],
    unknown: boolean,
  ): Generator<number[]> {
    const ofAll = findCorrections(this.#reading, joined);
    if (!unknown && ofAll.length > fewFound) return;
    // A missing letter is the most frequent mistake.
    const longer = ofAll.filter((key) => key.length > joined.length);
    const others = ofAll.filter((key) => key.length <= joined.length);
    for (const keys of [longer, others]) {
      if (keys.length > 0) yield find(anyWhole('key', keys.map(wholeTerm)));
    }
    if (!unknown) return;
    const corrections = words.map((word) => (word === joined ? ofAll : findCorrections(this.#reading, word)));
    if (corrections.some((list) => list.length > 0)) {
      yield find(everyWord(termColumns, words, corrections));
    }
  }
}
