import { createRandom } from '../bench/statistics.ts';
import { type Distribution, draw, type Random, words } from './synthetic-text.ts';

/** The size of a community. */
export interface CommunityPlan {
  readonly seed: number;
  readonly repositories: number;
  readonly packages: number;
  readonly versions: number;
}

/** A repository of a synthetic community. */
export interface SyntheticRepository {
  readonly slug: string;
  readonly ranking: number;
  /** The text of its index. */
  readonly packages: string;
  /** Fields of Release. */
  readonly release: Readonly<Record<string, string>>;
  /** Whether Release lists hashes. */
  readonly isHashed: boolean;
  readonly packageCount: number;
  readonly versionCount: number;
}

// The distribution of 2,715 stanzas in 71 repositories of the jailbreak community when they were counted.
const packagesPerRepository: Distribution = [
  [0, 1],
  [0.25, 2],
  [0.5, 7],
  [0.75, 19],
  [0.9, 36],
  [0.95, 54],
  [1, 439],
];
const versionsPerPackage: Distribution = [
  [0, 1],
  [0.75, 1],
  [0.9, 3],
  [0.95, 5],
  [0.99, 18],
  [1, 55],
];
const authorsPerRepository: Distribution = [
  [0, 1],
  [0.5, 1],
  [0.75, 3],
  [0.9, 5],
  [1, 29],
];
const descriptionLetters: Distribution = [
  [0, 12],
  [0.1, 28],
  [0.25, 31],
  [0.5, 44],
  [0.75, 74],
  [0.9, 384],
  [0.95, 624],
  [0.99, 846],
  [1, 1871],
];
const packageBytes: Distribution = [
  [0, 586],
  [0.1, 3600],
  [0.25, 10_826],
  [0.5, 49_256],
  [0.75, 189_450],
  [0.9, 988_180],
  [0.99, 17_470_476],
  [1, 58_097_262],
];
const dependencies: Distribution = [
  [0, 1],
  [0.4, 1],
  [0.5, 2],
  [0.75, 3],
  [0.95, 5],
  [0.99, 8],
  [1, 24],
];
const nameWords: Distribution = [
  [0, 1],
  [0.75, 1],
  [0.9, 3],
  [1, 6],
];
const segments: readonly (readonly [share: number, segments: number])[] = [
  [0.175, 1],
  [0.185, 2],
  [0.986, 3],
  [1, 4],
];
const architectures: readonly (readonly [share: number, name: string])[] = [
  [0.956, 'iphoneos-arm'],
  [0.986, 'iphoneos-arm64'],
  [0.997, 'all'],
  [1, 'iphoneos-arm64e'],
];
const sections: readonly (readonly [share: number, name: string])[] = [
  [0.65, 'Tweaks'],
  [0.712, 'Development'],
  [0.772, 'System'],
  [0.829, 'Libraries'],
  [0.884, 'Utilities'],
  [0.911, 'Themes'],
  [0.92, 'Control Center (Modules)'],
  [0.928, 'Networking'],
  [0.94, 'Addons (Flipswitch)'],
  [0.95, 'Security'],
  [0.96, 'Widgets'],
  [1, 'Games'],
];

/** The share of stanzas that have a field. */
const presence = {
  name: 0.835,
  author: 0.818,
  maintainer: 0.991,
  description: 0.998,
  section: 0.997,
  depends: 0.9,
  depiction: 0.652,
  icon: 0.232,
  sileoDepiction: 0.045,
  homepage: 0.152,
  conflicts: 0.143,
  tag: 0.065,
  installedSize: 0.826,
  size: 0.993,
  sha256: 0.952,
  sha512: 0.228,
} as const;

/** The share of stanzas, or of repositories, that have a fault. */
const faults = {
  carriageReturns: 4 / 71,
  noDate: 84 / 90,
  noHashes: 70 / 90,
  releaseBroken: 4 / 90,
  twiceTheSame: 4 / 2960,
  twiceAField: 1 / 300,
  capitalHash: 1 / 300,
  lineWithoutColon: 1 / 1500,
  blankInIdentifier: 1 / 1500,
} as const;

const pick = <T>(table: readonly (readonly [share: number, value: T])[], random: Random): T => {
  const at = random();
  const [, value] = table.find(([share]) => at < share) ?? table[table.length - 1] ?? [];
  return value as T;
};

const hex = (length: number, random: Random): string => {
  let text = '';
  while (text.length < length) {
    text += Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  }
  return text.slice(0, length);
};

/** This many whole numbers of at least 1, with this distribution and this sum. */
const share = (count: number, sum: number, distribution: Distribution, random: Random): number[] => {
  const drawn = Array.from({ length: count }, () => draw(distribution, random));
  const total = drawn.reduce((all, one) => all + one, 0);
  const scale = Math.max(0, sum - count) / Math.max(1, total - count);
  const numbers = drawn.map((one) => 1 + Math.floor((one - 1) * scale));
  let left = sum - numbers.reduce((all, one) => all + one, 0);
  for (let at = 0; left > 0; at = (at + 1) % count, left--) numbers[at] = (numbers[at] ?? 0) + 1;
  return numbers;
};

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

const composeVersion = (at: number, random: Random): string => {
  const text = [1 + Math.floor(at / 10), at % 10, Math.floor(random() * 10)].join('.');
  const form = random();
  if (form < 0.25) return `${text}-${1 + Math.floor(random() * 9)}`;
  if (form < 0.3) return `${text}~beta${1 + Math.floor(random() * 9)}`;
  return form < 0.35 ? `${text}+debug` : text;
};

interface Author {
  readonly name: string;
  readonly folder: string;
}

/** Writes the stanzas of one repository. */
class Stanzas {
  readonly #random: Random;
  readonly #slug: string;
  readonly #authors: readonly Author[];
  readonly #identifiers: string[] = [];

  constructor(slug: string, random: Random) {
    this.#random = random;
    this.#slug = slug;
    this.#authors = Array.from({ length: Math.round(draw(authorsPerRepository, random)) }, () => {
      const folder = words.one(random) + words.one(random);
      return { name: `${capital(words.one(random))} ${capital(folder)}`, folder };
    });
  }

  /** The stanzas of all versions of a package; `number` counts the packages before it in the whole community. */
  *package(number: number, versions: number): Generator<string> {
    const random = this.#random;
    const author = this.#authors[Math.floor(random() * this.#authors.length)] ?? { name: 'Nobody', folder: 'nobody' };
    const parts = Array.from({ length: Math.round(draw(nameWords, random)) }, () => words.one(random));
    const name =
      parts.length === 1 ? capital(parts[0] ?? '') + capital(words.one(random)) : parts.map(capital).join(' ');
    // The number makes the name unique, because words repeat.
    const own = `${parts.join('')}${number.toString(36)}`;
    const identifier = ['com', author.folder, own, 'ext'].slice(0, pick(segments, random)).join('.');
    const unique = identifier.includes(own) ? identifier : own;
    this.#identifiers.push(unique);
    const has = (share: number) => random() < share;
    const fields: [name: string, value: string][] = [['Package', unique]];
    if (has(presence.name)) fields.push(['Name', name]);
    if (has(presence.author)) fields.push(['Author', `${author.name} <${author.folder}@mail.example>`]);
    if (has(presence.maintainer)) fields.push(['Maintainer', author.name]);
    if (has(presence.section)) fields.push(['Section', pick(sections, random)]);
    if (has(presence.depends)) fields.push(['Depends', this.#relations(Math.round(draw(dependencies, random)))]);
    if (has(presence.conflicts)) fields.push(['Conflicts', this.#relations(1)]);
    const place = `https://${this.#slug}.example/depictions/${unique}`;
    if (has(presence.depiction)) fields.push(['Depiction', `${place}/index.html`]);
    if (has(presence.sileoDepiction)) fields.push(['SileoDepiction', `${place}/native.json`]);
    if (has(presence.icon)) fields.push(['Icon', `https://${this.#slug}.example/icons/${unique}.png`]);
    if (has(presence.homepage)) fields.push(['Homepage', `https://${author.folder}.example/`]);
    if (has(presence.tag))
      fields.push(['Tag', has(0.3) ? 'cydia::commercial, purpose::extension' : 'purpose::extension']);
    if (has(presence.description)) {
      fields.push(['Description', words.text(Math.round(draw(descriptionLetters, random)), random)]);
    }
    const architecture = pick(architectures, random);
    for (let at = 0; at < versions; at++) {
      const version = composeVersion(at, random);
      const stanza = this.#compose([...fields, ...this.#file(unique, version, architecture)]);
      yield stanza;
      // The same package, version and architecture again, with other bytes.
      if (has(faults.twiceTheSame)) yield this.#compose([...fields, ...this.#file(unique, version, architecture)]);
    }
  }

  #relations(count: number): string {
    const random = this.#random;
    const relations = new Set(['mobilesubstrate']);
    for (let tries = 1; tries < count; tries++) {
      const known = this.#identifiers[Math.floor(random() * this.#identifiers.length)];
      relations.add(random() < 0.5 || known === undefined ? `firmware (>= ${7 + Math.floor(random() * 9)}.0)` : known);
    }
    return [...relations].join(', ');
  }

  #file(identifier: string, version: string, architecture: string): [name: string, value: string][] {
    const random = this.#random;
    const has = (share: number) => random() < share;
    const bytes = Math.round(draw(packageBytes, random));
    const fields: [name: string, value: string][] = [
      ['Version', version],
      ['Architecture', architecture],
      ['Filename', `./debs/${identifier}_${version}_${architecture}.deb`],
      ['MD5sum', hex(32, random)],
    ];
    if (has(presence.size)) fields.push(['Size', `${bytes}`]);
    if (has(presence.installedSize)) fields.push(['Installed-Size', `${Math.ceil(bytes / 1024)}`]);
    if (has(presence.sha256)) fields.push(['SHA1', hex(40, random)], ['SHA256', hex(64, random)]);
    if (has(presence.sha512)) fields.push(['SHA512', hex(128, random)]);
    return fields;
  }

  #compose(fields: readonly (readonly [name: string, value: string])[]): string {
    const random = this.#random;
    const lines = fields.map(([name, value]) =>
      name.startsWith('SHA') && random() < faults.capitalHash ? `${name}: ${value.toUpperCase()}` : `${name}: ${value}`,
    );
    if (random() < faults.twiceAField) lines.push(`Section: ${pick(sections, random)}`);
    if (random() < faults.lineWithoutColon) lines.push('a line without what stands between');
    if (random() < faults.blankInIdentifier) lines[0] += ' ';
    return `${lines.join('\n')}\n`;
  }
}

const composeRelease = (slug: string, random: Random): Readonly<Record<string, string>> => ({
  Origin: capital(slug.replaceAll('-', ' ')),
  Label: capital(slug),
  Suite: 'stable',
  Version: '1.0',
  Codename: 'ios',
  [random() < faults.releaseBroken ? 'Architecture' : 'Architectures']: 'iphoneos-arm iphoneos-arm64',
  Components: 'main',
  Description: words.text(40, random),
  ...(random() < faults.noDate ? {} : { Date: 'Mon, 01 Jun 2026 10:00:00 UTC' }),
});

/**
 * The repositories of a synthetic community, the same for the same plan. It has exactly as many packages, with
 * different identifiers, and as many versions as the plan says; names, fields, sizes and faults are as frequent as in
 * real repositories. It yields one repository at a time, because the text of a hundred thousand packages has hundreds
 * of megabytes.
 */
export function* composeCommunity(plan: CommunityPlan): Generator<SyntheticRepository> {
  const random = createRandom(plan.seed);
  const sizes = share(plan.repositories, plan.packages, packagesPerRepository, random);
  const versions = share(plan.packages, plan.versions, versionsPerPackage, random);
  let number = 0;
  for (const [index, size] of sizes.entries()) {
    const slug = `${words.one(random)}-${index + 1}`;
    const stanzas = new Stanzas(slug, random);
    const texts: string[] = [];
    let versionCount = 0;
    for (let at = 0; at < size; at++, number++) {
      const own = versions[number] ?? 1;
      versionCount += own;
      texts.push(...stanzas.package(number, own));
    }
    const text = texts.join('\n');
    yield {
      slug,
      ranking: 1 + Math.floor(random() * 5),
      packages: random() < faults.carriageReturns ? text.replaceAll('\n', '\r\n') : text,
      release: composeRelease(slug, random),
      isHashed: random() >= faults.noHashes,
      packageCount: size,
      versionCount,
    };
  }
}
