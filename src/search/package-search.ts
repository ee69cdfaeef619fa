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

/** Where the records of one page of results are. */
export interface LocatedPage {
  /** The numbers of the documents, in order. */
  readonly ids: readonly number[];
  /** Whether there is a page after this one. */
  readonly more: boolean;
  /** How many of these, which are the last, all words but one fit. */
  readonly parts: number;
}

export interface ResultPage {
  readonly records: RecordList;
  /** Whether there is a page after this one. */
  readonly more: boolean;
  /** How many of these, which are the last, fit a part of the question alone. */
  readonly parts?: number;
}

/** Documents that were found: those that fit and, behind them, those that all words but one do. */
export interface Found {
  readonly ids: readonly number[];
  /** How many of them fit. */
  readonly fitting: number;
}

// What has a question inside a word has all of it.
const foundOf = ({ words }: Question, found: ReadonlySet<number>, exact: number): Found => ({
  ids: [...found],
  fitting: words.length > 1 ? exact : found.size,
});

/** Takes of a class what is wanted still; whether that is all of it. */
const fill = (found: Set<number>, ids: readonly number[], wanted: number): boolean => {
  for (const id of ids) {
    found.add(id);
    if (found.size === wanted) return true;
  }
  return false;
};

/** What of all that was found stands on a page. */
export const pageOf = ({ ids, fitting }: Found, start: number, end: number): LocatedPage => {
  const own = ids.slice(start, end);
  return {
    ids: own,
    more: ids.length > end && end < furthestResult,
    parts: own.length - Math.min(own.length, Math.max(0, fitting - start)),
  };
};

const noRecords: RecordList = { count: 0, pieces: [] };

/** Results beyond this many are not reached by paging: nobody reads them, and finding them all costs everybody. */
export const furthestResult = 10_000;

/** Of more packages with one name than these the spelling is not compared. */
const mostSpelled = 250;

/**
 * Fewer results than these, none of them called as was asked, may be of another name than the one that was meant, so that
 * names like it follow; unless more names than these are like it, which says nothing.
 */
const fewFound = 4;

/** So many documents with one word of several and more are not looked at one by one; fewer are. */
const manyCandidates = 32;

/** So many with all words and more are not; fewer always are, since texts tell more than the index. */
const manyWithAll = 128;

/**
 * Searches package records. Results come in classes, the best first, and each class is one query that yields documents
 * by their number, which is their rank; so the first page of the broadest question reads little more than what it
 * answers. See searchTables for the number, and `classes` for the order.
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
    const { ids, more } = this.locate(text, limit, page);
    return { records: this.read(ids), more };
  }

  /** The same, but for the records, which are to be read. */
  locate(text: string, limit: number, page: number): LocatedPage {
    const question = parseQuestion(text);
    const start = (page - 1) * limit;
    if (question === undefined || start >= furthestResult) return { ids: [], more: false, parts: 0 };
    const end = Math.min(start + limit, furthestResult);
    return pageOf(this.#collect(question, limit, end + 1), start, end);
  }

  /** All that can be reached by pages of so many, the best first. In steps: it is much, where a page is a little of it. */
  *locateAll(text: string, limit: number): Steps<Found> {
    const question = parseQuestion(text);
    return question === undefined ? { ids: [], fitting: 0 } : yield* this.#collecting(question, limit, furthestResult);
  }

  /** The records of these documents, in the order given. `isBeginning`: they are the first of an answer. */
  read(ids: readonly number[], isBeginning = false): RecordList {
    return ids.length === 0 ? noRecords : this.#reading.records(ids, isBeginning);
  }

  /** The numbers of the first `wanted` results: those that fit and, where they are fewer than `limit`, looser ones. */
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
   * The first documents of each class of results, the best class first. What earlier classes found may come again, so
   * each yields as many as are wanted in all.
   */
  *#classes(question: Question, wanted: number, found: () => number): Generator<readonly number[]> {
    const { text, words, joined, dotted } = question;
    const find = (expression: string) => this.#reading.match(expression, wanted);
    // What most people type is the whole of nothing, which one question to the index tells for three columns.
    const isWhole = this.#reading.match(whole('key identifier segment', wholeTerm(joined)), 1).length > 0;
    if (isWhole) {
      // As many for every page, so that all pages have one order.
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

  /** Of names that differ in punctuation alone ("x-dev", "x++-dev"), those first that are spelled as asked. */
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
   * What a question of several words finds by them, where the documents with its longest word, which is the rarest as a
   * rule, or those with all of its words are few. Undefined elsewhere.
   */
  #classifyFew(question: Question): Classified | undefined {
    const { words, joined } = question;
    const [longest] = words.toSorted((a, b) => b.length - a.length);
    // One word may come twice, as in scripts of which each character is a word.
    if (longest === undefined || longest === joined) return undefined;
    let few = this.#reading.match(beginning(wordColumns, longest), manyCandidates);
    if (few.length < manyCandidates) return this.#candidates.classify(few, question);
    few = this.#reading.match(everyWord(wordColumns, words), manyWithAll);
    return few.length === manyWithAll ? undefined : this.#candidates.classify(few, question);
  }

  /**
   * What a question finds by its words, from the index, each class when it is asked for. They lie in each other: where
   * all that is found in any column is found, the index need not be asked for what is found in more columns. `begun` is
   * the number of names that begin so: where they are many, what is found in any column is not asked for at once.
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

  /** What is found by one mistake less in all of it and, where its words are `unknown`, in one of them. */
  *#corrected(
    { words, joined }: Question,
    find: (expression: string) => number[],
    unknown: boolean,
  ): Generator<number[]> {
    const ofAll = findCorrections(this.#reading, joined);
    if (!unknown && ofAll.length > fewFound) return;
    // A letter is left out more often than another mistake is made.
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
