import type { RecordDetails } from '../catalog/record-details.ts';
import { parseRelations } from './relations.ts';

/** Which packages need a name, and which provide it, by the relations of their best records. */
export class RelationIndex {
  readonly #dependents = new Map<string, string[]>();
  readonly #providers = new Map<string, string[]>();

  /** Takes in a package; those of one name are told in the order in which they came. */
  add(id: string, { depends, preDepends, provides }: RecordDetails): void {
    const names = new Set<string>();
    for (const field of [depends, preDepends]) {
      for (const group of parseRelations(field)) for (const { name } of group) names.add(name);
    }
    for (const name of names) append(this.#dependents, name, id);
    for (const group of parseRelations(provides)) {
      for (const { name } of group) append(this.#providers, name, id);
    }
  }

  /** Packages that depend on this name. */
  dependents(name: string): readonly string[] {
    return this.#dependents.get(name) ?? [];
  }

  /** The first package that provides this name. */
  provider(name: string): string | undefined {
    return this.#providers.get(name)?.[0];
  }
}

const append = (map: Map<string, string[]>, key: string, value: string): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};
