import { z } from 'zod';

/** Fields with dependencies: needed before unpacking, or before use. */
const dependencyFields = ['Pre-Depends', 'Depends'] as const;
export type DependencyField = (typeof dependencyFields)[number];

/** Why an alternative of a dependency cannot be satisfied, in the words of the description. */
const unmetReasons = {
  'not-found': 'no repository has it',
  architecture: 'it exists only for other architectures',
  version: 'APT takes another version, and no repository has a newer one that fits',
  firmware: 'the device runs another firmware',
  conflict: 'the package that has it conflicts with others to be installed',
  dependency: 'the package that has it cannot be installed (if it is installed anyway, it has an entry of its own)',
  repositories: 'another repository has it, but no more repositories are added',
  unreadable: 'the relation cannot be read',
} as const;
export type UnmetReason = keyof typeof unmetReasons;

/** Limits of the computation of a closure (docs/architecture.md). */
export const closureLimits = {
  /** How many packages are tried, including those that are not chosen in the end. */
  visits: 10_000,
  /** How many relations are read and compared, and pieces of text with 64 characters are read. */
  steps: 300_000,
  /** How many repositories are added. */
  repositories: 16,
  /** How many unsatisfied dependencies, and dependencies that the device satisfies, are listed. */
  entries: 1000,
  /** How many alternatives of an unsatisfied dependency are listed. */
  alternatives: 10,
  /** How many characters of a relation are shown. */
  characters: 300,
} as const;

const identifier = z.string().describe('Package identifier.');
const repositoryId = z.string().describe('Identifier of the repository.');
const requiredBy = z.string().nullable().describe('The package that needs it; null for the requested package.');
const relation = z
  .string()
  .describe(`The relation, such as "b (>= 1.2)"; cut at ${closureLimits.characters} characters.`);

/** What installing a package brings. */
export const dependencyClosureSchema = z.strictObject({
  package_id: identifier,
  architecture: z.string().describe('The requested architecture.'),
  firmware: z.string().nullable().describe('The requested firmware; null for any.'),
  outcome: z
    .enum(['installable', 'unmet', 'too-large'])
    .describe(
      `installable: everything needed is listed; unmet: something cannot be met, see unmet; too-large: it took more than ${closureLimits.visits} packages or ${closureLimits.steps} relations, or device or unmet would have more than ${closureLimits.entries} entries, and only a part is listed.`,
    ),
  repositories: z.array(z.string()).describe('The repositories already added, by identifier, sorted.'),
  unknown_repositories: z.array(z.string()).describe('Requested repositories that are not known here, sorted.'),
  add: z
    .array(
      z.strictObject({
        repository_id: repositoryId,
        uri: z.url(),
        suite: z.string(),
        package_count: z.number().int().min(1).describe('Number of packages that come from it.'),
        safe: z
          .boolean()
          .describe(
            'Whether its address is safe to add, as /safety says. If not, none that is safe has what is needed.',
          ),
      }),
    )
    .describe('Repositories to add, by ranking.'),
  packages: z
    .array(
      z.strictObject({
        package_id: identifier,
        version: z.string(),
        architecture: z.string(),
        repository_id: repositoryId,
        required_by: requiredBy,
        relation: relation.nullable(),
      }),
    )
    .describe(
      'What would be installed: the package itself first, then each package after the first that needs it. Recommends are left out.',
    ),
  device: z
    .array(
      z.strictObject({
        name: z.string(),
        relation,
        required_by: requiredBy,
        reason: z
          .enum(['system', 'essential'])
          .describe('system: describes the device; essential: part of every bootstrap.'),
      }),
    )
    .describe('What the device itself provides.'),
  unmet: z
    .array(
      z.strictObject({
        required_by: requiredBy,
        field: z.enum(dependencyFields).nullable().describe('Null for the requested package.'),
        alternatives: z.array(
          z.strictObject({
            relation,
            reason: z.enum(Object.keys(unmetReasons) as UnmetReason[]).describe(
              Object.entries(unmetReasons)
                .map(([reason, text]) => `${reason}: ${text}`)
                .join('; '),
            ),
            text: z.string().describe('The reason as a sentence, with names and versions.'),
          }),
        ),
        left_out: z.number().int().min(0).describe('Number of further alternatives, not listed.'),
      }),
    )
    .describe('Dependencies of which no alternative can be met, and why.'),
});
export type DependencyClosure = z.infer<typeof dependencyClosureSchema>;

/** A question about the dependencies of a package. */
export interface DependencyQuestion {
  readonly packageId: string;
  readonly architecture: string;
  /** The configured repositories, by slug or former slug, in any order. */
  readonly repositories: readonly string[];
  /** The firmware of the device; null for any. */
  readonly firmware: string | null;
  /** Whether the address of a repository is safe to add. */
  readonly isSafe: (uri: string) => boolean;
}
