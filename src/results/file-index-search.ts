import { buildOf } from '../compatibility/builds.ts';
import { type Chosen, type FacetCounts, type FacetName, facetNames } from './chosen-facets.ts';
import {
  decodeAscending,
  decodeDigit,
  decodeNumbers,
  encodeAscending,
  type FacetFile,
  type FacetValues,
  filesOf,
  type IndexEntry,
  type IndexOrder,
  longestWord,
  lowerBound,
  mostFiles,
  mostShortest,
  nameLength,
  type PartKind,
  type Place,
  places,
  type WordFile,
} from './file-index.ts';
import type { RowCard } from './row.ts';
import { foldText, splitWords } from './words.ts';

/**
 * Reads a part of the index; see file-index.ts. Rejects if it is not there. `isAnew`: what was read last is none, so a
 * cache that has it is no help.
 */
export type ReadPart = (kind: PartKind, name: string, isAnew: boolean) => Promise<unknown>;

/** A host may answer with other JSON in place of a part. */
const assertPart = (isPart: boolean): void => {
  if (!isPart) throw new Error('no part of the index');
};

/** The most words of a query that count. Of a script without blanks each character is one. */
const mostWords = 32;

/** How many parts are kept. A query of usual words needs some twenty, most of them for its rows. */
const mostKept = 256;

type Weights = Readonly<Record<Place, number>>;

/** What a whole word counts, and one that is only begun. */
const weights: Weights = { whole: 12, name: 12, id: 4, text: 1, identifier: 0.5 };
/** The same for a query without its blanks: a package that is called so comes before all others. */
const wholeWeights: Weights = { ...weights, whole: 10_000, identifier: 10_000 };
const begunWholeWeights: Weights = { ...weights, whole: 100 };
/** The same for a query that looks like an identifier. Others begin one only because "com" stands before many. */
const begunIdentifierWeights: Weights = { ...begunWholeWeights, identifier: 100 };
/** No package that is not called so has as much. The weight of a word that all packages have is the least. */
const leastOfWhole = wholeWeights.whole * Math.log(2);
/** What of a word is typed where it is not known which word it is, and what more at most of the shortest names. */
const begunShare = 0.3;
const mostOfShortest = 0.1;

/** Of how many packages with the same name the spelling is compared: as many as are shown at first. */
const mostSpelled = 20;

/** A word of a file, or the head of many, and its packages; see WordFile. */
type Member = readonly [word: string, numbers: string];

/** Packages of a word that a typed one may be, and what share of it was typed: 1 if all of it. */
interface Found {
  readonly numbers: string;
  readonly typed: number;
}

/** How well packages match: of each by its number, 0 for those that do not. And how many do. */
interface Scores {
  readonly of: Float64Array;
  readonly size: number;
}

const isAllowed = (name: FacetName, value: string, { [name]: values }: FacetValues): boolean =>
  values.includes(value) ||
  // A package for all architectures is for this one, too. For devices, the index lists each architecture of a package.
  (name === 'architecture' && buildOf(value) === undefined && values.includes('all'));

const isChosen = (chosen: Chosen, values: FacetValues, without?: FacetName): boolean =>
  facetNames.every((name) => {
    const value = chosen[name];
    return value === undefined || name === without || isAllowed(name, value, values);
  });

interface Facets {
  readonly combinations: readonly FacetValues[];
  /** Of each package, which of them it has. */
  readonly of: readonly number[];
}

/** Searches the index among the files. What was read last is kept, for the letters that follow. */
export class FileIndexSearch {
  readonly #entry: IndexEntry;
  readonly #read: ReadPart;
  /** What was read, that which was asked for last at the end. */
  readonly #parts = new Map<string, Promise<unknown>>();
  /** What could not be read. */
  readonly #failed = new Set<string>();
  /** The number of the first package of each file with rows. */
  readonly #starts: number[] = [];

  constructor(entry: IndexEntry, read: ReadPart) {
    this.#entry = entry;
    this.#read = read;
    let start = 0;
    for (let at = nameLength; at < entry.rows.length; at += nameLength + 1) {
      this.#starts.push(start);
      start += decodeDigit(entry.rows, at);
    }
  }

  #part<Content>(kind: PartKind, name: string, compose: (read: unknown) => Content): Promise<Content> {
    const key = `${kind}/${name}`;
    const known = this.#parts.get(key) as Promise<Content> | undefined;
    this.#parts.delete(key);
    const part = known ?? this.#read(kind, name, this.#failed.has(key)).then(compose);
    this.#parts.set(key, part);
    const [oldest] = this.#parts.keys();
    if (this.#parts.size > mostKept) this.#parts.delete(oldest as string);
    if (known !== undefined) return known;
    // It may be asked for again.
    part.catch(() => {
      this.#parts.delete(key);
      this.#failed.add(key);
    });
    return part;
  }

  /** The words of some files, or heads of words, with their packages. */
  async #words(kind: 'words' | 'heads', from: number, to: number): Promise<Member[]> {
    const files = this.#entry[kind].slice(from, to);
    const read = await Promise.all(
      files.map(([first, name]) =>
        this.#part(kind, name, (file) => {
          assertPart(typeof (file as WordFile)[first] === 'string');
          return Object.entries(file as WordFile);
        }),
      ),
    );
    return read.flat();
  }

  /** The words that a typed one may be. */
  async #find(typed: string): Promise<readonly Found[]> {
    const word = typed.slice(0, longestWord);
    const [from, to] = filesOf(this.#entry.words, word);
    if (to - from <= mostFiles) {
      const all = await this.#words('words', from, to);
      return all
        .filter(([one]) => one.startsWith(word))
        .map(([one, numbers]) => ({ numbers, typed: word.length / one.length }));
    }
    const [head] = filesOf(this.#entry.heads, word);
    const [exact, heads] = await Promise.all([
      this.#words('words', from, from + 1),
      this.#words('heads', head, head + 1),
    ]);
    const of = (all: readonly Member[]) => all.find(([one]) => one === word)?.[1];
    const [whole, begun] = [of(exact), of(heads)];
    const [shortest = '', ...numbers] = begun?.split(' ') ?? [];
    // More of these was typed than of longer names, though how much is not known. Their place is the first: the name.
    return [
      ...(whole === undefined ? [] : [{ numbers: whole, typed: 1 }]),
      { numbers: numbers.join(' '), typed: begunShare },
      ...decodeNumbers(shortest).map((number, index) => ({
        numbers: encodeAscending([number]),
        typed: begunShare + mostOfShortest * (1 - index / mostShortest),
      })),
    ];
  }

  /** The packages that have a word, or one that it begins. */
  async #match(typed: string, whole: Weights, begun: Weights): Promise<Scores> {
    const words = await this.#find(typed);
    // Short beginnings find a hundred thousand packages, for which a map takes ten times as long.
    const of = new Float64Array(this.#entry.packages);
    let size = 0;
    for (const { numbers, typed: share } of words) {
      for (const [place, text] of numbers.split(' ').entries()) {
        const name = places[place] as Place;
        const score = share === 1 ? whole[name] : begun[name] * share;
        for (const number of decodeAscending(text)) {
          const known = of[number] as number;
          if (known === 0) size++;
          if (known < score) of[number] = score;
        }
      }
    }
    // A rare word says more than a common one.
    const weight = Math.log(1 + this.#entry.packages / size);
    if (size > 0) for (let number = 0; number < of.length; number++) (of[number] as number) *= weight;
    return { of, size };
  }

  /** Reads what a query needs whose words begin so. */
  async prepare(beginning: string): Promise<void> {
    await Promise.all(splitWords(beginning).map((word) => this.#find(word)));
  }

  /**
   * The numbers of the packages that have all words of a text, or begin to, or are called so without its blanks; the
   * best first. All packages, in the order of their names, for an empty text.
   */
  async find(text: string): Promise<number[]> {
    if (text === '') return Array.from({ length: this.#entry.packages }, (_, number) => number);
    const words = splitWords(text).slice(0, mostWords);
    if (words.length === 0) return [];
    const each = words.length > 1 ? new Set(words) : [];
    const isDotted = text.includes('.') && !/\s/.test(text.trim());
    const [joined, ...apart] = await Promise.all([
      this.#match(words.join(''), wholeWeights, isDotted ? begunIdentifierWeights : begunWholeWeights),
      ...Array.from(each, (word) => this.#match(word, weights, weights)),
    ]);
    // The one with the fewest packages rules out most of the others.
    apart.sort((a, b) => a.size - b.size);
    const scores = joined.of;
    const found: number[] = [];
    for (let number = 0; number < scores.length; number++) {
      let sum = 0;
      for (const { of } of apart) {
        const score = of[number] as number;
        if (score === 0) {
          sum = 0;
          break;
        }
        sum += score;
      }
      const score = Math.max(scores[number] as number, sum);
      if (score === 0) continue;
      scores[number] = score;
      found.push(number);
    }
    // Equal ones stay in the order of their names.
    const numbers = found.sort((a, b) => (scores[b] as number) - (scores[a] as number));
    const same = numbers.slice(0, mostSpelled).filter((number) => (scores[number] as number) >= leastOfWhole).length;
    if (same < 2) return numbers;
    return [...(await this.#spelledSo(numbers.slice(0, same), text)), ...numbers.slice(same)];
  }

  /** Of packages whose names differ only in signs ("x-dev", "x++-dev"), puts those first that are spelled as typed. */
  async #spelledSo(numbers: readonly number[], text: string): Promise<number[]> {
    const typed = foldText(text.trim());
    const isSpelled = new Set<number>();
    for (const [index, { name, id }] of (await this.rows(numbers)).entries()) {
      if (foldText(name) === typed || foldText(id) === typed) isSpelled.add(numbers[index] as number);
    }
    return [...isSpelled, ...numbers.filter((number) => !isSpelled.has(number))];
  }

  #facets(): Promise<Facets> {
    return this.#part('values', this.#entry.facets, (file) => {
      const { combinations, of } = file as FacetFile;
      return { combinations, of: this.#valuesOf(of) };
    });
  }

  /** A number of each package. */
  #valuesOf(text: string): readonly number[] {
    const values = decodeNumbers(text);
    assertPart(values.length === this.#entry.packages);
    return values;
  }

  /** Those of some packages that have the chosen values, in their order. */
  async filter(numbers: readonly number[], chosen: Chosen): Promise<readonly number[]> {
    if (facetNames.every((name) => chosen[name] === undefined)) return numbers;
    const { combinations, of } = await this.#facets();
    const allowed = combinations.map((values) => isChosen(chosen, values));
    return numbers.filter((number) => allowed[of[number] as number]);
  }

  /** How many of some packages each value would leave, together with the other chosen values. */
  async count(numbers: readonly number[], chosen: Chosen): Promise<FacetCounts> {
    const { combinations, of } = await this.#facets();
    const counts = new Uint32Array(combinations.length);
    for (const number of numbers) (counts[of[number] as number] as number)++;
    const countOf = (name: FacetName): Map<string, number> => {
      const found = new Map<string, number>();
      const add = (value: string, count: number) => found.set(value, (found.get(value) ?? 0) + count);
      const fitting = combinations.flatMap((values, index) => {
        const count = counts[index] as number;
        return count > 0 && isChosen(chosen, values, name) ? [{ values, count }] : [];
      });
      for (const { values, count } of fitting) for (const value of values[name]) add(value, count);
      // What is for all of them is chosen with these, too.
      const beside = name === 'architecture' ? [...found.keys()] : [];
      for (const value of beside) {
        for (const { values, count } of fitting)
          if (!values[name].includes(value) && isAllowed(name, value, values)) add(value, count);
      }
      return found;
    };
    return Object.fromEntries(facetNames.map((name) => [name, countOf(name)])) as Record<
      FacetName,
      Map<string, number>
    >;
  }

  /** Some packages with the highest value first; equal ones by name. */
  async sort(numbers: readonly number[], order: IndexOrder): Promise<readonly number[]> {
    const name = this.#entry.orders[order];
    if (name === undefined) return numbers;
    const values = await this.#part('values', name, (file) => this.#valuesOf(file as string));
    return [...numbers].sort((a, b) => (values[b] as number) - (values[a] as number) || a - b);
  }

  /** The rows of some packages. */
  rows(numbers: readonly number[]): Promise<RowCard[]> {
    return Promise.all(
      numbers.map(async (number) => {
        const file = lowerBound(this.#starts.length, (place) => (this.#starts[place] as number) <= number) - 1;
        const name = this.#entry.rows.slice(file * (nameLength + 1), file * (nameLength + 1) + nameLength);
        const [start, end = this.#entry.packages] = this.#starts.slice(file, file + 2) as [number, number?];
        const rows = await this.#part('rows', name, (read) => {
          assertPart(Array.isArray(read) && read.length === end - start);
          return read as readonly RowCard[];
        });
        return rows[number - start] as RowCard;
      }),
    );
  }
}
