import { buildOf, buildTitles } from '../compatibility/builds.ts';

/** A notch in the edge of a card: `kind` determines its place and colour, and it has a word. */
export interface Notch {
  readonly kind: keyof typeof notchPlaces;
  readonly word: string;
}

/** The places of notches, from the top. */
export const notchPlaces = { rootful: 0, rootless: 1, roothide: 2 } as const;

/** The notch of one architecture; undefined if it belongs to no kind of jailbreak. */
export const notchOf = (architecture: string): Notch | undefined => {
  const kind = buildOf(architecture);
  return kind === undefined || kind === 'all' ? undefined : { kind, word: buildTitles[kind] };
};

/** The notches of a package with builds for these architectures, in the order of their places. */
export const notchesOf = (architectures: readonly string[]): Notch[] =>
  architectures
    .map(notchOf)
    .filter((notch) => notch !== undefined)
    .sort((a, b) => notchPlaces[a.kind] - notchPlaces[b.kind]);
