import type { Relation } from '../apt/relations.ts';
import type { NewestRecord } from '../catalog/dependency-reading.ts';
import { fitsQualifier, hasVersion, providesVersion } from './matching.ts';
import type { PackageRelations } from './package-relations.ts';
import type { Steps, Work } from './work.ts';

/** A package that would be installed. */
export interface Chosen {
  readonly record: NewestRecord;
  readonly relations: PackageRelations;
  /** The package that needs it, and by which relation; null for the package that was asked about. */
  readonly requiredBy: { readonly name: string; readonly relation: Relation } | null;
}

/** Values by key. The last ones can be removed again. */
class Stacks<T> {
  readonly #values = new Map<string, T[]>();

  push(key: string, value: T): void {
    const values = this.#values.get(key);
    if (values) values.push(value);
    else this.#values.set(key, [value]);
  }

  pop(key: string): void {
    this.#values.get(key)?.pop();
  }

  get(key: string): readonly T[] {
    return this.#values.get(key) ?? [];
  }
}

/** The packages chosen so far, what they provide and what they refuse. The last ones can be removed again. */
export class ChosenPackages {
  readonly #architecture: string;
  readonly #work: Work;
  readonly #list: Chosen[] = [];
  readonly #byName = new Map<string, Chosen>();
  readonly #provided = new Stacks<{ readonly version: string | null; readonly by: Chosen }>();
  readonly #refused = new Stacks<{ readonly relation: Relation; readonly by: Chosen }>();

  constructor(architecture: string, work: Work) {
    this.#architecture = architecture;
    this.#work = work;
  }

  get list(): readonly Chosen[] {
    return this.#list;
  }

  add(one: Chosen): void {
    this.#list.push(one);
    this.#byName.set(one.record.name, one);
    for (const { name, version } of one.relations.provisions) this.#provided.push(name, { version, by: one });
    for (const relation of one.relations.refusals) this.#refused.push(relation.name, { relation, by: one });
  }

  /** Removes all except the first `count`. */
  cutTo(count: number): void {
    while (this.#list.length > count) {
      const one = this.#list.pop();
      if (one === undefined) return;
      this.#byName.delete(one.record.name);
      for (const { name } of one.relations.provisions) this.#provided.pop(name);
      for (const { name } of one.relations.refusals) this.#refused.pop(name);
    }
  }

  /** The chosen package that already satisfies a relation. */
  *meeting(relation: Relation): Steps<Chosen | undefined> {
    const fits = ({ relations }: Chosen) => fitsQualifier(relation, this.#architecture, () => relations.servesAny);
    const named = this.#byName.get(relation.name);
    if (named !== undefined && hasVersion(relation, named.record.version) && fits(named)) return named;
    for (const { version, by } of this.#provided.get(relation.name)) {
      if (this.#work.spend()) yield;
      if (providesVersion(relation, version) && fits(by)) return by;
    }
    return undefined;
  }

  /** The chosen packages that this package conflicts with, or that conflict with it. Provided names count, too. */
  *conflicting({ name, version }: NewestRecord, relations: PackageRelations): Steps<Chosen | undefined> {
    for (const relation of relations.refusals) {
      if (this.#work.spend()) yield;
      const named = this.#byName.get(relation.name);
      if (named !== undefined && relation.name !== name && hasVersion(relation, named.record.version)) return named;
      for (const provided of this.#provided.get(relation.name)) {
        if (this.#work.spend()) yield;
        if (provided.by.record.name !== name && providesVersion(relation, provided.version)) return provided.by;
      }
    }
    for (const { relation, by } of this.#refused.get(name)) {
      if (this.#work.spend()) yield;
      if (by.record.name !== name && hasVersion(relation, version)) return by;
    }
    for (const provision of relations.provisions) {
      for (const { relation, by } of this.#refused.get(provision.name)) {
        if (this.#work.spend()) yield;
        if (by.record.name !== name && providesVersion(relation, provision.version)) return by;
      }
    }
    return undefined;
  }
}
