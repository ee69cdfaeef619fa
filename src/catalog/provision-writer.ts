import type { PackageStanza } from '../apt/packages-index.ts';
import { parseProvides } from '../apt/relations.ts';
import type { FindingCounter } from '../contract/findings.ts';
import { limitNote, limits } from '../contract/limits.ts';
import type { WritableDatabase } from './database.ts';

/**
 * Priorities (Debian Policy, section 2.5), the preferred one first. As in apt, a missing priority comes before all
 * others.
 */
const priorities: readonly (string | undefined)[] = ['required', 'important', 'standard', 'optional', 'extra'];

/** apt's preference among packages that provide the same name: essential ones first, then by priority. */
const preferenceOf = ({ essential, priority }: PackageStanza): number =>
  essential ? 0 : 2 + priorities.indexOf(priority?.toLowerCase());

/** Writes what the packages of one repository provide, within the limits. */
export class ProvisionWriter {
  readonly #findings: FindingCounter;
  readonly #insert;
  readonly #delete;
  readonly #written = new Map<number, number>();
  #count = 0;

  constructor(database: WritableDatabase, findings: FindingCounter) {
    this.#findings = findings;
    this.#insert = database.prepareWrite(
      'INSERT INTO provision (record, name, version, architecture, preference, place) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#delete = database.prepareWrite('DELETE FROM provision WHERE record = ?');
  }

  /** Writes what the newest version of a package provides. `place` is where the index first names the package. */
  write(stanza: PackageStanza, record: number, place: number): void {
    if (stanza.provides === null) return;
    const provided = parseProvides(stanza.provides);
    const left = limits.providesPerRepository - this.#count;
    const taken = provided.slice(0, Math.min(limits.providesPerPackage, left));
    if (taken.length < provided.length) {
      const met = left < limits.providesPerPackage ? 'providesPerRepository' : 'providesPerPackage';
      const { package: name, version, architecture } = stanza;
      this.#findings.add('provides-too-many', `${limitNote(met)}, from ${name} ${version} ${architecture}`);
    }
    const preference = preferenceOf(stanza);
    for (const { name, version } of taken) {
      this.#insert.run(record, name, version ?? '', stanza.architecture, preference, place);
    }
    if (taken.length > 0) this.#written.set(record, taken.length);
    this.#count += taken.length;
  }

  /** Removes the provisions of a record that is no longer the newest, or is replaced. */
  remove(record: number): void {
    const count = this.#written.get(record);
    if (count === undefined) return;
    this.#delete.run(record);
    this.#written.delete(record);
    this.#count -= count;
  }
}
