import { type RecordDetails, relationFields } from '../catalog/record-details.ts';
import { parseRelations, withoutBlanks } from './relations.ts';

const none: readonly string[] = [];

/** A build of a package, and what is known of it. */
interface KnownBuild {
  readonly architecture: string;
  readonly details: RecordDetails;
}

/**
 * Which packages need a name, and which provide it, by the relations of their best records and of its repository's
 * builds for other architectures.
 */
export class RelationIndex {
  readonly #dependents = new Map<string, string[]>();
  readonly #providers = new Map<string, string[]>();
  /** Those that provide a version of the name. */
  readonly #ofVersions = new Map<string, string[]>();
  readonly #named = new Map<string, readonly string[]>();
  /** What each package requires to be installed, as written: parsed lists would take several times the memory. */
  readonly #required = new Map<string, string>();
  /** The same of those builds of a package that require something else. */
  readonly #otherwise = new Map<string, readonly { readonly architecture: string; readonly required: string }[]>();

  /**
   * Adds a package by what is known of its best record, and of its other builds. Packages for the same name keep the
   * order in which they were added.
   */
  add(id: string, details: RecordDetails, others: readonly KnownBuild[] = []): void {
    const named = new Set<string>();
    const needed = new Set<string>();
    const note = (field: (typeof relationFields)[number], text: string | undefined, isBest: boolean) => {
      const isNeed = field === 'depends' || field === 'preDepends';
      for (const group of parseRelations(text)) {
        for (const { name, restriction } of group) {
          named.add(name);
          if (isNeed && name !== id) needed.add(name);
          if (field !== 'provides' || !isBest) continue;
          append(this.#providers, name, id);
          if (restriction !== '') append(this.#ofVersions, name, id);
        }
      }
    };
    for (const field of relationFields) note(field, details[field], true);
    for (const one of others) {
      for (const field of relationFields)
        if (one.details[field] !== details[field]) note(field, one.details[field], false);
    }
    if (named.size > 0) this.#named.set(id, [...named]);
    if (needed.size > 0) this.#required.set(id, requiredOf(details));
    const otherwise = others
      .map((one) => ({ architecture: one.architecture, required: requiredOf(one.details) }))
      .filter(({ required }) => withoutBlanks(required) !== withoutBlanks(requiredOf(details)));
    if (otherwise.length > 0) this.#otherwise.set(id, otherwise);
    for (const name of needed) append(this.#dependents, name, id);
  }

  /** All names in the relations of a package. */
  namedBy(id: string): readonly string[] {
    return this.#named.get(id) ?? none;
  }

  /** The relations that have to be satisfied for a package to be installed. */
  requiredBy(id: string): ReturnType<typeof parseRelations> {
    return parseRelations(this.#required.get(id));
  }

  /** The same for each of its builds for which other relations have to be satisfied. */
  requiredOtherwise(
    id: string,
  ): { readonly architecture: string; readonly groups: ReturnType<typeof parseRelations> }[] {
    return (this.#otherwise.get(id) ?? []).map(({ architecture, required }) => ({
      architecture,
      groups: parseRelations(required),
    }));
  }

  /** Those of these packages that need the others, directly or through what they need; the others among them. */
  withDependents(ids: Iterable<string>): Set<string> {
    const found = new Set(ids);
    // A package that is provided is needed by its other names, too.
    const provided = new Map<string, string[]>();
    for (const [name, providers] of this.#providers) for (const id of providers) append(provided, id, name);
    // Each name once: a repository may have a thousand packages that provide the same, and another ten thousand that
    // need it.
    const names = new Set<string>();
    // Those that are added on the way are also visited.
    for (const id of found) {
      for (const name of [id, ...(provided.get(id) ?? none)]) {
        if (names.has(name)) continue;
        names.add(name);
        for (const one of this.dependents(name)) found.add(one);
      }
    }
    return found;
  }

  /** Packages that depend on this name. */
  dependents(name: string): readonly string[] {
    return this.#dependents.get(name) ?? none;
  }

  /** All packages that provide this name or, for a relation to some versions of it, that provide a version. */
  providers(name: string, toVersions: boolean): readonly string[] {
    return (toVersions ? this.#ofVersions : this.#providers).get(name) ?? none;
  }
}

const requiredOf = ({ depends, preDepends }: RecordDetails): string =>
  depends === undefined || preDepends === undefined ? (depends ?? preDepends ?? '') : `${depends}, ${preDepends}`;

const append = (map: Map<string, string[]>, key: string, value: string): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};
