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

// Strangers choose how long a name is.
const longestKey = 60;
const keyOf = (name: string): string => (name.length > longestKey ? `\0${hash('sha1', name, 'base64')}` : name);

/** A copy: a piece would keep the whole index alive that it was cut from. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/** No architecture is called so: stands for whichever it was. */
const anywhere = '';

interface Most {
  /** So many relations are read; past them a package counts as named where its own stanza stands. */
  readonly relations: number;
  /** So many names are remembered. */
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
  /** By architecture and name: names are many, and longer with the architecture put before each. */
  readonly #places = new Map<string, Map<string, number>>();
  #names = 0;
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
  #name(name: string, architecture: string): number {
    const place = this.#next++;
    const key = keyOf(name);
    const first = this.#keep(anywhere, key, place);
    const own = this.#keep(keyOf(architecture), key, place);
    // A package for every architecture is one of whichever is installed for, and is named for it.
    if (architecture === everyArchitecture) return first;
    return Math.min(own, this.#places.get(everyArchitecture)?.get(key) ?? own);
  }

  #keep(architecture: string, name: string, place: number): number {
    const places = this.#places.get(architecture);
    const known = places?.get(name);
    if (known !== undefined) return known;
    if (this.#names < this.#most.names) {
      this.#names++;
      if (places === undefined) this.#places.set(copyOf(architecture), new Map([[copyOf(name), place]]));
      else places.set(copyOf(name), place);
    }
    return place;
  }
}
