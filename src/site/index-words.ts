import { compareText } from '../catalog/reading.ts';
import { joinWords, nameTerms, splitWords } from '../catalog/search-text.ts';
import {
  encodeAscending,
  encodeNumbers,
  filesOf,
  leastInText,
  longestWord,
  lowerBound,
  mostFiles,
  mostShortest,
  places,
} from '../results/file-index.ts';
import type { PackageSummary } from './package-summary.ts';

/** The most words of one package: few descriptions have more. */
const mostTerms = 256;
/**
 * The most words that a repository brings into the index. Debian brings four for each of its packages. Of each word this
 * process keeps some 240 bytes, so that a repository of made-up words could end it.
 */
const mostOfRepository = 2 ** 20;
/** How long a file with words becomes before the next one begins, in characters: some kilobytes when compressed. */
const fileLength = 16_384;

const [whole, name, id, text, identifier] = [0, 1, 2, 3, 4] as const;

/** The words under which a package is found, each with the first of the places where it has it; see `places`. */
export const composeTerms = (
  one: Pick<PackageSummary, 'id' | 'name' | 'author' | 'description'>,
): Map<string, number> => {
  const terms = new Map<string, number>();
  const add = (words: Iterable<string>, place: number) => {
    for (const word of words) {
      const term = word.slice(0, longestWord);
      if (terms.size < mostTerms && term !== '' && !terms.has(term)) terms.set(term, place);
    }
  };
  const addName = (written: string, place: number) => {
    const { words, pairs } = nameTerms(written);
    add(splitWords(written), place);
    add(words, place);
    add(pairs, place);
  };
  // An identifier without dots is a name, too.
  add([joinWords(one.name), ...(one.id.includes('.') ? [] : [joinWords(one.id)])], whole);
  addName(one.name, name);
  for (const part of one.id.split('.')) {
    addName(part, id);
    add([joinWords(part)], id);
  }
  add([joinWords(one.id)], identifier);
  add(splitWords(one.author), text);
  add(splitWords(one.description), text);
  return terms;
};

/** Words in order with their packages, as they stand in a file. */
export interface Shelved {
  /** The first word. */
  readonly first: string;
  readonly content: string;
}

/** Divides words with their packages, which are in order, among files. */
function* shelve(words: Iterable<readonly [string, string]>): Generator<Shelved> {
  let first: string | undefined;
  let members: string[] = [];
  let length = 0;
  for (const [word, numbers] of words) {
    const member = `${JSON.stringify(word)}:${JSON.stringify(numbers)}`;
    if (first !== undefined && length + member.length > fileLength) {
      yield { first, content: `{${members.join()}}` };
      first = undefined;
      members = [];
      length = 0;
    }
    first ??= word;
    members.push(member);
    length += member.length;
  }
  if (first !== undefined) yield { first, content: `{${members.join()}}` };
}

/** The words of all packages. Packages are added in the order of their numbers. */
export class IndexWords {
  // Of each word its packages: the number times that of places, and the place.
  readonly #words = new Map<string, number[]>();
  /** How many words each repository brought, by slug. */
  readonly #brought = new Map<string, number>();
  readonly #most: number;
  #packages = 0;

  constructor(most: number = mostOfRepository) {
    this.#most = most;
  }

  /** Adds a package of this repository. Beyond the most words of that, it is found by words that are known alone. */
  add(one: Parameters<typeof composeTerms>[0], repository: string): void {
    let brought = this.#brought.get(repository) ?? 0;
    const number = this.#packages++;
    for (const [term, place] of composeTerms(one)) {
      const known = this.#words.get(term);
      const entry = number * places.length + place;
      if (known !== undefined) known.push(entry);
      else if (brought < this.#most) {
        this.#words.set(term, [entry]);
        brought++;
      }
    }
    this.#brought.set(repository, brought);
  }

  #encode(entries: Iterable<number>): string {
    const of = places.map((): number[] => []);
    for (const entry of entries) of[entry % places.length]?.push(Math.floor(entry / places.length));
    return of.map(encodeAscending).join(' ').trimEnd();
  }

  /** The files with words, and those with heads. */
  shelve(): { readonly words: readonly Shelved[]; readonly heads: readonly Shelved[] } {
    const sorted = [...this.#words.keys()].sort(compareText);
    const encode = (word: string) => this.#encode(this.#words.get(word) as number[]);
    const words = Array.from(shelve(sorted.values().map((word) => [word, encode(word)] as const)));
    const heads = shelve(this.#heads(sorted, words));
    return { words, heads: [...heads] };
  }

  /**
   * The beginnings whose words stand in more files than are read for one, with the packages of them all. What is found
   * for a longer one is part of what is found for a shorter one, so that long beginnings in common do not have all words
   * read again for each of their letters.
   */
  #heads(sorted: readonly string[], shelved: readonly Shelved[]): (readonly [string, string])[] {
    const shelf = shelved.map(({ first }) => [first, ''] as const);
    // Of each beginning, in how many files its words stand. The first words of many files begin alike.
    const spread = new Map<string, number>();
    for (const [first] of shelf) {
      for (let length = 1; length <= first.length; length++) {
        const beginning = first.slice(0, length);
        if (spread.has(beginning)) continue;
        const [from, to] = filesOf(shelf, beginning);
        spread.set(beginning, to - from);
      }
    }
    const beginnings = [...spread].filter(([, files]) => files > mostFiles).map(([beginning]) => beginning);
    const heads: (readonly [string, string])[] = [];
    // Those that are no part of another yet, the last first.
    const longer: Head[] = [];
    const best = new Uint8Array(this.#packages).fill(places.length);
    // The longer ones stand behind what they begin with.
    for (const beginning of beginnings.sort(compareText).reverse()) {
      const numbers: number[] = [];
      const names: Named[] = [];
      const take = (entries: Iterable<number>) => {
        for (const entry of entries) {
          const number = Math.floor(entry / places.length);
          const place = entry % places.length;
          if (place >= text && beginning.length < leastInText) continue;
          const known = best[number] as number;
          if (known === places.length) numbers.push(number);
          if (place < known) best[number] = place;
        }
      };
      const from = lowerBound(sorted.length, (place) => (sorted[place] as string) < beginning);
      let to = from;
      while (sorted[to]?.startsWith(beginning)) {
        const inner = longer.at(-1)?.from === to ? longer.pop() : undefined;
        const entries = inner?.entries ?? (this.#words.get(sorted[to] as string) as number[]);
        take(entries);
        for (const named of inner?.shortest ?? calledSo(entries, (sorted[to] as string).length)) names.push(named);
        to = inner?.to ?? to + 1;
      }
      const entries = Uint32Array.from(numbers, (number) => number * places.length + (best[number] as number)).sort();
      for (const number of numbers) best[number] = places.length;
      const shortest = names.sort((a, b) => a.length - b.length || a.number - b.number).slice(0, mostShortest);
      longer.push({ from, to, entries, shortest });
      heads.push([beginning, `${encodeNumbers(shortest.map(({ number }) => number))} ${this.#encode(entries)}`]);
    }
    return heads.reverse();
  }
}

/** Words that begin alike: from which up to, but without, which they stand in order, and their packages. */
interface Head {
  readonly from: number;
  readonly to: number;
  readonly entries: Uint32Array;
  /** Those with the shortest names. */
  readonly shortest: readonly Named[];
}

/** A package whose name is one of the words, and how long that is. */
interface Named {
  readonly number: number;
  readonly length: number;
}

/** The packages of a word that are called so. */
function* calledSo(entries: Iterable<number>, length: number): Generator<Named> {
  for (const entry of entries) {
    if (entry % places.length === whole) yield { number: Math.floor(entry / places.length), length };
  }
}
