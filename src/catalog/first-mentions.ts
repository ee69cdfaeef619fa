import { hash } from 'node:crypto';
import type { PackageStanza } from '../apt/packages-index.ts';
import { limits } from '../contract/limits.ts';
import { everyArchitecture } from './dependency-reading.ts';

/** The fields in which a stanza names other packages, in the order in which apt reads them into its cache. */
const fieldsOf = (stanza: PackageStanza): readonly (string | null)[] => [
  stanza.preDepends,
  stanza.depends,
  stanza.conflicts,
  stanza.breaks,
  stanza.recommends,
  stanza.suggests,
  stanza.replaces,
  stanza.enhances,
  stanza.provides,
];

// A name, and what follows its colon. No part can begin with a character of the part before it, so there is only one
// way to match a text.
const mention = /(?:^|[,|])\s*([^\s():|,[\]<>]+)(?::([^\s():|,[\]<>]+))?/g;

// Strangers decide how long the names of packages and architectures are.
const longestKey = 60;
const keyOf = (name: string): string => (name.length > longestKey ? `\0${hash('sha1', name, 'base64')}` : name);

/** Copies a text, because a slice would keep the whole index in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/** Where a name was first met, for any architecture and for each one. */
interface Met {
  readonly place: number;
  /** The architecture for which it was met there. */
  readonly architecture: string;
  /** The places for other architectures. */
  others: Map<string, number> | undefined;
}

const placeFor = (architecture: string, { place, architecture: first, others }: Met): number | undefined =>
  architecture === first ? place : others?.get(architecture);

interface Most {
  /** How many relations are read. Beyond that, a package counts as named where its own stanza is. */
  readonly relations: number;
  /**
   * How many places of names are remembered: one for each name for any architecture, and one for each architecture of
   * it.
   */
  readonly names: number;
}

/**
 * The place in an index where each package is first named, by its own stanza or in a relation of another. Among
 * packages that provide a name and are otherwise equal, apt takes the one that entered its cache last
 * (CompareProviders: the higher number), and a package enters it where it is first named for its architecture. So the
 * choice does not depend on their names, and only partly on the order of their stanzas.
 */
export class FirstMentions {
  readonly #most: Most;
  readonly #met = new Map<string, Met>();
  #kept = 0;
  readonly #architectures = new Map<string, string>();
  #next = 0;
  #relations = 0;

  constructor(most: Most = { relations: limits.orderedRelations, names: limits.orderedNames }) {
    this.#most = most;
  }

  /** Notes all names in a stanza. Returns the place of the stanza's own package. */
  note(stanza: PackageStanza): number {
    const { package: name, architecture } = stanza;
    const own = this.#name(name, architecture);
    for (const text of fieldsOf(stanza)) {
      if (text !== null) this.#noteRelations(text, architecture);
    }
    return own;
  }

  #noteRelations(text: string, architecture: string): void {
    for (const [, name = '', qualifier = architecture] of text.matchAll(mention)) {
      if (this.#relations >= this.#most.relations) return;
      this.#relations++;
      // For apt, a name with another architecture is another package, and a name with `any` is not this one.
      if (qualifier === architecture) this.#name(name, architecture);
    }
  }

  /** Notes a name. Returns where it was first met. */
  #name(name: string, itsArchitecture: string): number {
    const architecture = keyOf(itsArchitecture);
    const place = this.#next++;
    const key = keyOf(name);
    const met = this.#met.get(key);
    if (met === undefined) {
      if (this.#hasRoomFor(2)) {
        this.#met.set(copyOf(key), { place, architecture: this.#copyOnce(architecture), others: undefined });
      }
      return place;
    }
    // A package for all architectures counts as one for the architecture that is installed for, and as named for that.
    const own = this.#placeFor(architecture, met, place);
    if (architecture === everyArchitecture) return met.place;
    return Math.min(own, placeFor(everyArchitecture, met) ?? own);
  }

  /** The place of a name for an architecture. If there is none yet, it is this one. */
  #placeFor(architecture: string, met: Met, place: number): number {
    const known = placeFor(architecture, met);
    if (known === undefined && this.#hasRoomFor(1)) {
      met.others ??= new Map();
      met.others.set(this.#copyOnce(architecture), place);
    }
    return known ?? place;
  }

  #hasRoomFor(places: number): boolean {
    if (this.#kept + places > this.#most.names) return false;
    this.#kept += places;
    return true;
  }

  /** Returns the same copy of an architecture for all names. */
  #copyOnce(architecture: string): string {
    const known = this.#architectures.get(architecture);
    if (known !== undefined) return known;
    const copy = copyOf(architecture);
    this.#architectures.set(copy, copy);
    return copy;
  }
}
