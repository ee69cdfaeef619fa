/**
 * What is known of a package version beyond its public record: relations as written, its own addresses, and how it serves
 * those that depend on it.
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
  /** Whether it serves relations that end with `:any`. */
  readonly anyArchitecture?: true;
  readonly essential?: true;
}
