import type { Relation } from '../apt/relations.ts';
import { compareVersions } from '../apt/version.ts';

/** Whether a version satisfies the operator and version of a relation. */
export const hasVersion = ({ operator, version }: Relation, candidate: string): boolean => {
  if (operator === null || version === null) return true;
  const order = compareVersions(candidate, version);
  switch (operator) {
    case '<<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '=':
      return order === 0;
    case '>=':
      return order >= 0;
    case '>>':
      return order > 0;
  }
};

/**
 * Whether something that provides a name, with this version or none, satisfies a relation (Debian Policy, section 7.5).
 */
export const providesVersion = (relation: Relation, provided: string | null): boolean =>
  provided === null ? relation.operator === null : hasVersion(relation, provided);

/** Whether the qualifier after the colon fits the architecture that is installed for. */
export const fitsQualifier = ({ qualifier }: Relation, architecture: string, servesAny: () => boolean): boolean => {
  if (qualifier === null || qualifier === 'native') return true;
  return qualifier === 'any' ? servesAny() : qualifier === architecture;
};
