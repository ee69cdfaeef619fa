import { type RecordDetails, relationFields } from '../catalog/record-details.ts';
import { parseRelations } from './relations.ts';

const none: readonly string[] = [];

/** Which packages need a name, and which provide it, by the relations of their best records. */
export class RelationIndex {
  readonly #dependents = new Map<string, string[]>();
  readonly #providers = new Map<string, string[]>();
  /** Those that provide a version of the name. */
  readonly #ofVersions = new Map<string, string[]>();
  readonly #named = new Map<string, readonly string[]>();

  /** Adds a package. Packages for the same name keep the order in which they were added. */
  add(id: string, details: RecordDetails): void {
    const named = new Set<string>();
    const needed = new Set<string>();
    for (const field of relationFields) {
      const isNeed = field === 'depends' || field === 'preDepends';
      for (const group of parseRelations(details[field])) {
        for (const { name, restriction } of group) {
          named.add(name);
          if (isNeed && name !== id) needed.add(name);
          if (field !== 'provides') continue;
          append(this.#providers, name, id);
          if (restriction !== '') append(this.#ofVersions, name, id);
        }
      }
    }
    if (named.size > 0) this.#named.set(id, [...named]);
    for (const name of needed) append(this.#dependents, name, id);
  }

  /** All names in the relations of a package. */
  namedBy(id: string): readonly string[] {
    return this.#named.get(id) ?? none;
  }

  /** Packages that depend on this name. */
  dependents(name: string): readonly string[] {
    return this.#dependents.get(name) ?? none;
  }

  /** The first package that provides this name. */
  provider(name: string): string | undefined {
    return this.#providers.get(name)?.[0];
  }

  /** All packages that provide this name or, for a relation to some versions of it, that provide a version. */
  providers(name: string, toVersions: boolean): readonly string[] {
    return (toVersions ? this.#ofVersions : this.#providers).get(name) ?? none;
  }
}

const append = (map: Map<string, string[]>, key: string, value: string): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};
