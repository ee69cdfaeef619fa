import { endOfParts, endOfVersions, parseVersion, type VersionRanges } from './ios-versions.ts';

// Tags by which packages state what they run on: `compatible_min::ios14.0` and `compatible_max::ios16.5`, and the older
// `compatible::ios12`, which names one of several versions.

/** A tag as written, with the versions that it excludes or names. */
export type CompatibilityTag = { readonly written: string } & (
  | { readonly excluded: VersionRanges }
  | { readonly named: VersionRanges }
);

const tag = /^compatible(_min|_max)?::ios(\d{1,3}(?:\.\d{1,2}){0,2})$/i;

// No honest package has more tags, so no more are read of a stranger's.
const mostTags = 64;

/** What the tags of a package say about iOS. A maximum includes all versions that begin with it. Never throws. */
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
