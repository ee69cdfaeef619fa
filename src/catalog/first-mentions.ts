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

// A name, and what stands behind its colon. Each part is of characters that the next one cannot begin with, so that
// there is one way to read a text.
const mention = /(?:^|[,|])\s*([^\s():|,[\]<>]+)(?::([^\s():|,[\]<>]+))?/g;

// Strangers choose how long a name is, of a package or an architecture.
const longestKey = 60;
const keyOf = (name: string): string => (name.length > longestKey ? `\0${hash('sha1', name, 'base64')}` : name);

/** A copy: a piece would keep the whole index alive that it was cut from. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/** Where a name was first met, for whichever architecture and for each. */
interface Met {
  readonly place: number;
  /** For which it was met there. */
  readonly architecture: string;
  /** Its places for others. */
  others: Map<string, number> | undefined;
}

const placeFor = (architecture: string, { place, architecture: first, others }: Met): number | undefined =>
  architecture === first ? place : others?.get(architecture);

interface Most {
  /** So many relations are read; past them a package counts as named where its own stanza stands. */
  readonly relations: number;
  /** So many places of names are remembered: of each for whichever architecture, and for every one. */
  readonly names: number;
}

/**
 * At which place of an index each package is first named: by a stanza of its own, or in a relation of another. Of packages
 * that provide a name and are equal otherwise apt takes the one that came last into its cache (CompareProviders: the
 * higher number), and a package comes into it where it is first named for its architecture. So their names say nothing of
 * that, and the order of their stanzas not all.
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

  /** Takes note of all that a stanza names; returns the place of its own package. */
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
      // Of another architecture it is another package for apt, and one for any is not that of this name.
      if (qualifier === architecture) this.#name(name, architecture);
    }
  }

  /** A name that is met; returns where it first was. */
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
    // A package for every architecture is one of whichever is installed for, and is named for it.
    const own = this.#placeFor(architecture, met, place);
    if (architecture === everyArchitecture) return met.place;
    return Math.min(own, placeFor(everyArchitecture, met) ?? own);
  }

  /** The place of a name for an architecture, which is this one where it has none. */
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

  /** One copy of an architecture for all names. */
  #copyOnce(architecture: string): string {
    const known = this.#architectures.get(architecture);
    if (known !== undefined) return known;
    const copy = copyOf(architecture);
    this.#architectures.set(copy, copy);
    return copy;
  }
}
