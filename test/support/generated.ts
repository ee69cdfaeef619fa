import { packages, type SourceRepository } from './catalog.ts';

// Repositories as strangers write them, ordinary and odd, for tests of everything that is published.

const plain = [
  'SnowBoard',
  'Popcorn Time',
  'NoFomoFix',
  'AppID',
  'Azure',
  'NewTerm 2',
  'Éclair',
  '汉化补丁',
  'Filza File Manager',
  'iCleaner Pro',
];
const adjectives = [
  'Better',
  'Quick',
  'Silent',
  'Nice',
  'Ultra',
  'Pure',
  'Smart',
  'Tiny',
  'Dark',
  'Clear',
  'Swift',
  'Mega',
];
const nouns = [
  'Dock',
  'Switcher',
  'Player',
  'Folder',
  'Notes',
  'Camera',
  'Lock',
  'Badge',
  'Volume',
  'Keyboard',
  'Battery',
  'Clock',
];

const identifierOf = (name: string, author = 'example'): string =>
  `com.${author}.${
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '') || 'unnamed'
  }`;

const usual = (name: string, index: number): Record<string, string | undefined> => ({
  Package: identifierOf(name, `dev${index % 17}`),
  Name: name,
  Version: `${1 + (index % 4)}.${index % 10}`,
  Architecture: index % 3 === 0 ? 'iphoneos-arm64' : 'iphoneos-arm',
  Section: ['Tweaks', 'Themes', 'Utilities', 'System'][index % 4],
  Author: `Developer ${index % 17} <dev${index % 17}@mail.example>`,
  Description: `${name} for every screen\n It does one thing.\n .\n And it does that well.`,
  Icon: index % 5 === 0 ? undefined : `https://icons.example/${index}.png`,
  Tag: index % 7 === 0 ? 'purpose::extension, cydia::commercial' : undefined,
});

/** Addresses, texts and identifiers that a strict program could stumble over. */
const odd: Record<string, string | undefined>[] = [
  { Package: 'odd.icon.blank', Icon: 'https://icons.example/my icon.png' },
  { Package: 'odd.icon.letters', Icon: 'https://icons.example/图标/é.png', Header: 'https://münchen.example/ä.png' },
  { Package: 'odd.icon.brackets', Icon: 'https://icons.example/a[1].png?x={y}|z#a#b' },
  { Package: 'odd.icon.host', Icon: 'https://icons{1}.example/a.png', Header: 'https://ic"ons.example/' },
  { Package: 'odd.icon.empty', Icon: '', Header: ' ', 'Native-Depiction': '' },
  { Package: 'odd.icon.file', Icon: 'file:///Applications/Cydia.app/Sections/Tweaks.png', Header: 'icon.png' },
  { Package: 'odd.depiction', SileoDepiction: 'https://a.example/100%/ü.json', Depiction: 'javascript:alert(1)' },
  { Package: 'odd.bare', Name: undefined, Section: undefined, Description: undefined, Size: 'many', Author: '' },
  { Package: 'odd.markup', Name: '<script>alert("x")</script>', Description: '"]}},{"' },
  { Package: 'odd.emoji', Name: '🎉 Party 🎉', Author: 'שלום' },
  { Package: 'odd.long', Name: 'Long '.repeat(200), Description: 'word '.repeat(5000) },
  { Package: 'odd.versions', Version: '1:2.3~beta-4' },
  { Package: 'odd.versions', Version: '1:2.3-4' },
  { Package: 'odd.versions', Version: '1:2.3-4', Architecture: 'iphoneos-arm64' },
  ...['Upper.Case', 'upper.case', 'a/b', '..', '.', '__proto__', 'constructor', 'naïve paquet', '100%', 'a?b#c'].map(
    (name) => ({ Package: name, Name: `Odd ${name}` }),
  ),
  ...['search', 'multi', 'libstdc++', 'x'.repeat(255), 'y'.repeat(300), 'É'.repeat(130)].map((name) => ({
    Package: name,
  })),
];

/** Five repositories with several hundred packages, some of them in more than one. */
export const generatedRepositories = (): SourceRepository[] => {
  const combined = adjectives.flatMap((adjective) => nouns.map((noun) => `${adjective}${noun}`));
  const all = [...plain, ...combined].map(usual);
  return [
    {
      slug: 'alpha',
      ranking: 1,
      release: 'Origin: Alpha\nDescription: The first of all\nVersion: 1.0\nDate: Fri, 01 May 2026 10:00:00 UTC\n',
      packages: packages(...all.slice(0, 90)),
    },
    {
      slug: 'beta',
      ranking: 3,
      uri: 'https://Beta.example/Repo-With/Capitals/',
      release: 'Label: Béta\n',
      packages: packages(...all.slice(60), ...all.slice(60, 90).map((fields) => ({ ...fields, Version: '0.1' }))),
    },
    {
      slug: 'boot',
      ranking: 4,
      bootstrap: true,
      packages: packages(...all.slice(0, 20), { Package: 'firmware-sbin' }),
    },
    { slug: 'odd', ranking: 5, release: 'Origin: \nDate: yesterday\n', packages: packages(...odd) },
    { slug: 'single', ranking: 5, packages: packages({ Package: 'com.example.only' }) },
  ];
};
