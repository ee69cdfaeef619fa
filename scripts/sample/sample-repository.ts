import { zstdCompressSync } from 'node:zlib';
import { sha256Hex } from '../../src/apt/checksums.ts';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { buildDeb, type DebFile, gzip } from './deb.ts';
import { composeDepiction } from './depiction.ts';
import type { SamplePackage, SampleRepository } from './read-sample.ts';
import { type Fields, foldDescription, formatStanza } from './write-stanza.ts';

/** The files of a repository: their paths below its address, in an order in which they may be published. */
export type RepositoryFiles = Map<string, Uint8Array>;

type Release = SamplePackage['releases'][number];

const compressors = { gz: gzip, zst: (content: Uint8Array): Uint8Array => zstdCompressSync(content) };

const controlFields = (sample: SamplePackage, version: string, architecture: string, installed: number): Fields => [
  ['Package', sample.package],
  ['Name', sample.name],
  ['Version', version],
  ['Architecture', architecture],
  ['Section', sample.section],
  ['Priority', sample.priority],
  ['Essential', sample.essential ? 'yes' : undefined],
  ['Author', sample.author],
  ['Maintainer', sample.maintainer],
  ['Installed-Size', installed],
  ['Pre-Depends', sample.preDepends],
  ['Depends', sample.depends],
  ['Recommends', sample.recommends],
  ['Suggests', sample.suggests],
  ['Enhances', sample.enhances],
  ['Conflicts', sample.conflicts],
  ['Breaks', sample.breaks],
  ['Replaces', sample.replaces],
  ['Provides', sample.provides],
  ['Tag', sample.tags?.join(', ')],
  ['Homepage', sample.homepage],
  ['Description', foldDescription(sample.description)],
];

// Rootless systems install everything below one folder.
const installedFiles = (sample: SamplePackage, release: Release, architecture: string): DebFile[] => {
  const root = architecture === 'iphoneos-arm64' ? 'var/jb/usr' : 'usr';
  const paragraphs = [
    `${sample.name ?? sample.package} ${release.version}`,
    sample.description.trim(),
    release.changes,
  ];
  return [{ path: `${root}/share/doc/${sample.package}/README`, content: `${paragraphs.join('\n\n')}\n` }];
};

const kibibytes = (files: readonly DebFile[]): number =>
  Math.ceil(files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) / 1024);

// As in dpkg-name, file names leave out the epoch.
const debName = (name: string, version: string, architecture: string): string =>
  `${name}_${version.replace(/^\d+:/, '')}_${architecture}.deb`;

const releaseFields = (
  { release, date, payment }: SampleRepository,
  architectures: Iterable<string>,
  component: string,
  indexes: RepositoryFiles,
): Fields => [
  ['Origin', release.origin],
  ['Label', release.label],
  ['Suite', release.suite],
  ['Codename', release.codename],
  ['Version', release.version],
  ['Date', date.toUTCString().replace('GMT', 'UTC')],
  ['Architectures', [...architectures].sort().join(' ')],
  ['Components', component],
  ['Description', release.description],
  ['Payment-Gateway', payment?.gateway],
  ['SHA256', [...indexes].map(([path, bytes]) => `\n ${sha256Hex(bytes)} ${bytes.length} ${path}`).join('')],
];

/**
 * Builds a whole APT repository for the address in its manifest entry: package files, images, depictions, then the
 * Packages index in every compression, then Release, which names them all. The same arguments give the same bytes.
 * Throws if a package names an image that does not exist, or two packages would have the same file.
 */
export const composeRepository = async (source: SampleRepository, entry: ManifestEntry): Promise<RepositoryFiles> => {
  const files: RepositoryFiles = new Map();
  const add = (path: string, content: string | Uint8Array): string => {
    if (files.has(path)) throw new Error(`${source.slug}: two files would be called ${path}`);
    files.set(path, Buffer.from(content));
    return `${entry.uri}/${path}`;
  };
  const picture = (name: string): Uint8Array => {
    const bytes = source.images.get(name);
    if (bytes === undefined) throw new Error(`${source.slug}: there is no image ${name}.png`);
    return bytes;
  };
  const flat = entry.suite === './';
  const component = entry.component ?? 'main';
  const architectures = new Set<string>();
  const stanzas: string[] = [];

  for (const sample of source.packages) {
    const icon = sample.icon && add(`images/${sample.icon}.png`, picture(sample.icon));
    const header = sample.header && add(`images/${sample.header}.png`, picture(sample.header));
    const depiction =
      sample.depiction && JSON.stringify(composeDepiction(sample.depiction, sample, header), undefined, 2);
    const depictionUrl = depiction && add(`depictions/${sample.package}.json`, `${depiction}\n`);
    for (const release of sample.releases) {
      for (const architecture of release.architectures ?? sample.architectures) {
        const installed = installedFiles(sample, release, architecture);
        const control = formatStanza([
          ...controlFields(sample, release.version, architecture, kibibytes(installed)),
          ['Icon', icon],
          ['Header', header],
          ['SileoDepiction', depictionUrl],
        ]);
        const deb = await buildDeb(control, installed, source.date);
        const name = debName(sample.package, release.version, architecture);
        const path = flat ? `debs/${name}` : `pool/${component}/${sample.package}/${name}`;
        add(path, deb);
        architectures.add(architecture);
        stanzas.push(
          `${control}${formatStanza([
            ['Filename', flat ? `./${path}` : path],
            ['Size', deb.length],
            ['SHA256', sha256Hex(deb)],
          ])}`,
        );
      }
    }
  }
  add('CydiaIcon.png', picture(source.icon));
  if (source.payment) add('payment_endpoint', `${source.payment.endpoint}\n`);

  const index = Buffer.from(stanzas.join('\n'));
  const folder = flat ? '' : `${component}/binary-${entry.binary}/`;
  const indexes: RepositoryFiles = new Map([[`${folder}Packages`, index]]);
  for (const ending of source.compressions) indexes.set(`${folder}Packages.${ending}`, compressors[ending](index));
  const root = flat ? '' : `dists/${entry.suite}/`;
  for (const [path, bytes] of indexes) add(`${root}${path}`, bytes);
  add(`${root}Release`, formatStanza(releaseFields(source, architectures, component, indexes)));
  return files;
};
