import { endOfParts, endOfVersions, parseVersion, type VersionRanges } from './ios-versions.ts';

// Tags by which packages say on what they run: `compatible_min::ios14.0` and `compatible_max::ios16.5`, and the older
// `compatible::ios12`, which names one version among others.

/** A tag as it is written: the versions that it excludes, or those that it names. */
export type CompatibilityTag = { readonly written: string } & (
  | { readonly excluded: VersionRanges }
  | { readonly named: VersionRanges }
);

const tag = /^compatible(_min|_max)?::ios(\d{1,3}(?:\.\d{1,2}){0,2})$/i;

// Of a stranger's tags no more are read than any honest package has.
const mostTags = 64;

/** What the tags of a package say of iOS; a greatest version holds for all that begin with it. Never throws. */
export const readTags = (tags: readonly string[] | null | undefined): CompatibilityTag[] =>
  (tags ?? [])
    .filter((one) => tag.test(one))
    .slice(0, mostTags)
    .flatMap((written): CompatibilityTag[] => {
      const [, bound, spelled = ''] = tag.exec(written) ?? [];
      const version = parseVersion(spelled);
      if (version === undefined) return [];
      const end = endOfParts(version, spelled.split('.').length);
      if (bound === undefined) return [{ written, named: [[version, end]] }];
      const isLeast = bound.toLowerCase() === '_min';
      return [{ written, excluded: isLeast ? [[0, version]] : [[end, endOfVersions]] }];
    });
