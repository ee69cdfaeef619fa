/** The bootstraps whose packages have an architecture of their own, as notches in the edge of a card. */
type NotchKind = 'rootful' | 'rootless' | 'roothide';

/** A notch: its place and colour by `kind`, and what it says. */
export interface Notch {
  readonly kind: NotchKind;
  readonly word: string;
}

// In the order of their places in the edge. The names of architectures are those of Procursus and RootHide.
const kinds: readonly (readonly [architecture: string, Notch])[] = [
  ['iphoneos-arm', { kind: 'rootful', word: 'rootful' }],
  ['iphoneos-arm64', { kind: 'rootless', word: 'rootless' }],
  ['iphoneos-arm64e', { kind: 'roothide', word: 'RootHide' }],
];

/** The notches of a package with builds for these architectures; none for those of other systems. */
export const notchesOf = (architectures: readonly string[]): Notch[] =>
  kinds.filter(([architecture]) => architectures.includes(architecture)).map(([, notch]) => notch);

/** The notch of one architecture; undefined where it has none. */
export const notchOf = (architecture: string): Notch | undefined => notchesOf([architecture])[0];
