/**
 * The kinds of section for which we have an image. Repositories use some hundred section names for these few things; a
 * package without a usable icon shows the image of its kind.
 */
export const sectionKinds = [
  'tweaks',
  'addons',
  'apps',
  'themes',
  'wallpapers',
  'widgets',
  'control-center',
  'utilities',
  'system',
  'security',
  'networking',
  'development',
  'libraries',
  'terminal',
  'text',
  'multimedia',
  'games',
  'science',
  'archiving',
  'administration',
  'documentation',
  'repositories',
  'other',
] as const;
export type SectionKind = (typeof sectionKinds)[number];

// The first matching pattern decides, so the more specific ones come first. They cover the sections of the jailbreak
// community and those of the Debian archive (Policy, section 2.4).
const patterns: readonly (readonly [RegExp, SectionKind])[] = [
  [/control.?cent|flipswitch|ccsupport/, 'control-center'],
  [/widget|today|lockhtml/, 'widgets'],
  [/wallpaper|sticker/, 'wallpapers'],
  [/theme|zeppelin|winterboard|anemone|snowboard|font|respring|lockglyph/, 'themes'],
  [/addon|add-on|extension|cydget|cylinder|mcapollo/, 'addons'],
  [/tweak/, 'tweaks'],
  [/doc/, 'documentation'],
  [/lib|oldlibs|java|introspection/, 'libraries'],
  [
    /dev|debug|script|interpreter|python|perl|ruby|php|lisp|haskell|ocaml|rust|golang|javascript|vcs|embedded|cli-mono/,
    'development',
  ],
  [/term|shell/, 'terminal'],
  [/text|editor|tex$|localization|translations/, 'text'],
  [/net|web|httpd|mail|news|comm|zope/, 'networking'],
  [/secur|keyring|privacy|crypt/, 'security'],
  [/game|emulator|pojav/, 'games'],
  [/media|sound|video|audio|music|graphic|photo|image/, 'multimedia'],
  [/scien|math|electronic|hamradio|gnu-r|education/, 'science'],
  [/archiv|compress/, 'archiving'],
  [/repositor|source/, 'repositories'],
  [/admin|packag|metapackage|tasks|database|data_storage/, 'administration'],
  [/system|kernel|x11|x_window|gnome|kde|xfce|base|bootstrap|procursus|essential/, 'system'],
  [/util|otherosfs|misc/, 'utilities'],
  [/app/, 'apps'],
];

/** The kind of a Section value in any spelling; `other` if it is absent or unknown. */
export const sectionKind = (section: string | null): SectionKind => {
  if (section === null) return 'other';
  const text = section.toLowerCase();
  return patterns.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
};

/** The addresses of the images for a section kind, given a public address without trailing slash. */
export const sectionImages = (base: string, kind: SectionKind) => ({
  // Package managers on phones show only bitmaps, so the API names those. The site uses the SVG of the same name.
  icon: `${base}/icons/sections/${kind}.png`,
  header: `${base}/icons/headers/${kind}.png`,
});
