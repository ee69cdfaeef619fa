/**
 * What is known of a package version besides its public record: its relations as written, its own addresses, and how it
 * serves packages that depend on it.
 */
export interface RecordDetails {
  readonly depends?: string;
  readonly preDepends?: string;
  readonly recommends?: string;
  readonly suggests?: string;
  readonly enhances?: string;
  readonly conflicts?: string;
  readonly breaks?: string;
  readonly replaces?: string;
  readonly provides?: string;
  readonly homepage?: string;
  readonly depiction?: string;
  /** Whether it satisfies relations that end with `:any`. */
  readonly anyArchitecture?: true;
  readonly essential?: true;
}

/** What is known of a record by its column `details`, which is null where that is nothing. */
export const parseDetails = (details: string | null): RecordDetails => (details === null ? {} : JSON.parse(details));

/** The fields of a record that name packages, in the order in which they are shown. */
export const relationFields = [
  'depends',
  'preDepends',
  'recommends',
  'suggests',
  'enhances',
  'conflicts',
  'breaks',
  'replaces',
  'provides',
] as const satisfies readonly (keyof RecordDetails)[];
