import { isHeldBack, type VanishedPackage, vanishedShown } from '../catalog/last-build.ts';
import { componentOf } from '../catalog/older-reading.ts';
import { visibleText } from '../catalog/placeholder.ts';
import { architectureOf, type Build, builds } from '../compatibility/builds.ts';
import { failureText, findingText, isFindingCode } from '../contract/finding-texts.ts';
import type { DatedFinding } from '../contract/findings.ts';
import { documentPath } from '../contract/paths.ts';
import type { RepositoryRecord } from '../contract/records.ts';
import { type SectionKind, sectionKind } from '../contract/sections.ts';
import { type SigningState, signingTexts } from '../contract/signing-states.ts';
import { fitsArchitecture } from '../results/fits-architecture.ts';
import { page } from './addresses.ts';
import { badgeMarkdown, badgeText, badgeWidth, composeBadge } from './badge.ts';
import { computeLastingBars, type HealthBars } from './health-bars.ts';
import { heldSentence } from './held-back.ts';
import { type DeepLink, repositoryLinks } from './managers.ts';
import { type Mending, mendableCode, mendEach, unmended } from './mending.ts';
import { buildsIn, type PackageCard, packageCard } from './package-card.ts';
import { faceIn, type PackageSummary } from './package-summary.ts';
import { type Doubt, isTroubled, isUnsafe, type Outcome, type Repository } from './repository.ts';
import { byWeight, computeHealth, type Health } from './shown-findings.ts';
import { signingWords } from './signing-words.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** Packages on one page of a list. */
const listLength = 100;

/** One page of a long list. */
export interface ListPage {
  readonly number: number;
  readonly last: number;
  readonly total: number;
  readonly cards: readonly PackageCard[];
  /** The page with the first name of each letter. */
  readonly letters: readonly { readonly letter: string; readonly page: number }[];
}

const collator = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

/** Orders packages by name for people, as the repository with this slug calls them, and by identifier if the names are equal. */
const byNameIn =
  (slug: string | undefined) =>
  (a: PackageSummary, b: PackageSummary): number =>
    collator.compare(faceIn(a, slug).name, faceIn(b, slug).name) || (a.id < b.id ? -1 : 1);

/** Orders packages by name for people, and by identifier if the names are equal. */
export const byName = byNameIn(undefined);

const initial = (name: string): string => {
  const letter = name.normalize('NFD')[0]?.toUpperCase() ?? '';
  return /[A-Z]/.test(letter) ? letter : '#';
};

/** Divides a list ordered by name into pages, at least one. `slug` is the repository of the list. */
export const listPages = (packages: readonly PackageSummary[], slug?: string): ListPage[] => {
  const last = Math.max(1, Math.ceil(packages.length / listLength));
  const letters = new Map<string, number>();
  for (const [index, one] of packages.entries()) {
    const letter = initial(faceIn(one, slug).name);
    if (!letters.has(letter)) letters.set(letter, Math.floor(index / listLength) + 1);
  }
  const sorted = [...letters].sort(([a], [b]) => (a < b ? -1 : 1)).map(([letter, page]) => ({ letter, page }));
  return Array.from({ length: last }, (_, index) => ({
    number: index + 1,
    last,
    total: packages.length,
    // Made on demand: all lists together have several times as many cards as there are packages.
    get cards() {
      return packages.slice(index * listLength, (index + 1) * listLength).map((one) => packageCard(one, slug));
    },
    letters: last > 1 ? sorted : [],
  }));
};

/** The builds that some package of a list is for. `slug` is the repository of the list. */
export const buildsOf = (packages: readonly PackageSummary[], slug?: string): Build[] => {
  const missing = new Set(builds);
  for (const one of packages) {
    if (missing.size === 0) break;
    const offered = buildsIn(one, slug);
    for (const build of missing) if (fitsArchitecture(architectureOf(build), offered)) missing.delete(build);
  }
  return builds.filter((build) => !missing.has(build));
};

/** A repository as lists show it. */
export interface RepositoryCard {
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly host: string;
  readonly quality: number;
  readonly bootstrap: boolean;
  readonly packages: number;
  readonly kinds: readonly SectionKind[];
  readonly health: Health;
  /** Whether something new of it waits for the operator's decision, which makes its health fair. */
  readonly isHeld: boolean;
  /** Whether the safety list names it. */
  readonly isUnsafe: boolean;
  readonly changedAt: string;
  /** When it first entered the index, ISO 8601. */
  readonly addedAt: string;
}

/** A finding as shown on the page of its repository. */
export interface ShownFinding extends DatedFinding {
  readonly mending: Mending;
}

/** Everything that the pages of a repository show, except their list of packages. */
export interface RepositoryView {
  readonly card: RepositoryCard;
  readonly record: RepositoryRecord;
  /** Its former slugs. */
  readonly aliases: readonly string[];
  readonly flat: boolean;
  /** The line for sources.list (sources.list(5)). */
  readonly sourceLine: string;
  /** None if it is not flat, or unsafe. */
  readonly links: readonly DeepLink[];
  readonly sections: readonly { readonly kind: SectionKind; readonly count: number }[];
  /** The most severe first. */
  readonly findings: readonly ShownFinding[];
  /** Whether and how its Release is signed. */
  readonly signature: string;
  /** The same in a word. */
  readonly signing: (typeof signingWords)[SigningState];
  /** A doubt about its packages, which is shown with the buttons; undefined if there is none. */
  readonly doubt: Doubt | undefined;
  /** Why the last crawl failed; undefined if it did not. */
  readonly trouble:
    | (Pick<Outcome, 'outcome' | 'reason' | 'confirmedAt' | 'since'> & {
        readonly owner: string | undefined;
        readonly mending: Mending;
        /** What was held back, in words; undefined if nothing was. */
        readonly held: string | undefined;
      })
    | undefined;
  /** The results of its last builds; undefined if none is on record. */
  readonly bars: HealthBars | undefined;
  /** Packages that it no longer has, the latest first: as many as a person reads. */
  readonly vanished: readonly VanishedPackage[];
  /** Whether more vanished than those. */
  readonly hasMoreVanished: boolean;
  /** The badge for its owner, and how to include it. */
  readonly badge: { readonly text: string; readonly width: number; readonly markdown: string };
  readonly document: string;
  readonly packagesDocument: string;
}

const sourceLine = (record: RepositoryRecord): string =>
  record.suite === './' ? `deb ${record.uri} ./` : `deb ${record.uri} ${record.suite} ${componentOf(record) ?? 'main'}`;

/** The packages of each repository, ordered by the names that they have there. */
export const packagesIn = (catalog: SiteCatalog): Map<string, PackageSummary[]> => {
  const lists = new Map<string, PackageSummary[]>(catalog.repositories.map(({ slug }) => [slug, []]));
  for (const summary of catalog.packages.values()) {
    for (const slug of summary.repositories) lists.get(slug)?.push(summary);
  }
  for (const [slug, list] of lists) list.sort(byNameIn(slug));
  return lists;
};

// Many Release files repeat the name as the description.
const isName = (text: string | null, name: string): boolean =>
  text?.trim().replace(/\.$/, '').toLowerCase() === name.toLowerCase();

/** A repository and its number of packages (identifiers), for a list. */
export const repositoryCard = (repository: Repository, packages: number): RepositoryCard => ({
  slug: repository.slug,
  name: repository.name,
  description: isName(repository.record.description, repository.name)
    ? null
    : visibleText(repository.record.description),
  host: repository.record.origin_hostname,
  quality: repository.record.quality,
  bootstrap: repository.record.bootstrap,
  packages,
  kinds: [...new Set(repository.record.sections.map(sectionKind))],
  health: computeHealth(repository.findings, repository.outcome),
  isHeld: repository.outcome !== undefined && isHeldBack(repository.outcome),
  isUnsafe: isUnsafe(repository),
  changedAt: repository.changedAt,
  addedAt: repository.addedAt,
});

/**
 * The top of a repository's pages. `packages` is how many it has, `served` the architectures that they are built for,
 * `vanished` the packages that it no longer has.
 */
export const computeRepositoryView = (
  repository: Repository,
  packages: readonly PackageSummary[],
  {
    base,
    service,
    served,
    vanished,
  }: {
    readonly base: string;
    readonly service: { readonly name: string };
    readonly served: readonly string[];
    readonly vanished: readonly VanishedPackage[];
  },
): RepositoryView => {
  const { record, outcome } = repository;
  const counts = new Map<SectionKind, number>();
  for (const { kind } of packages) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const flat = record.suite === './';
  const badge = composeBadge({
    service: service.name,
    outcome,
    packages: packages.length,
    isUnsafe: isUnsafe(repository),
  });
  const { slug } = repository;
  const { reason = null, confirmedAt = null, since, code } = outcome ?? {};
  const failure = isTroubled(outcome) && code && isFindingCode(code) ? code : undefined;
  const owner = failure && failureText(failure, outcome?.earlier).owner;
  const findings = repository.findings.toSorted(
    (a, b) => byWeight(findingText(a.code), findingText(b.code)) || b.count - a.count,
  );
  // The failure comes first, because it is shown above the findings.
  const codes = [
    ...(failure === undefined ? [] : [failure]),
    ...findings.map(({ code, example }) => mendableCode({ code, evidence: example })),
  ];
  const mendings = mendEach(codes, record, repository.signing !== 'unsigned');
  const mending = (failure && mendings.shift()) ?? unmended;
  return {
    card: repositoryCard(repository, packages.length),
    record,
    aliases: repository.aliases,
    flat,
    sourceLine: sourceLine(record),
    links: flat && !isUnsafe(repository) ? repositoryLinks(record.uri, served) : [],
    sections: [...counts].sort(([, a], [, b]) => b - a).map(([kind, count]) => ({ kind, count })),
    findings: findings.map((finding, index) => ({ ...finding, mending: mendings[index] ?? unmended })),
    signature: signingTexts[repository.signing],
    signing: signingWords[repository.signing],
    doubt: repository.doubt,
    trouble: isTroubled(outcome)
      ? {
          ...{ outcome: outcome.outcome, reason, confirmedAt, since, owner, mending },
          held: isHeldBack(outcome) ? heldSentence(outcome) : undefined,
        }
      : undefined,
    vanished: vanished.slice(0, vanishedShown),
    hasMoreVanished: vanished.length > vanishedShown,
    bars: outcome?.history ? computeLastingBars(outcome.history) : undefined,
    badge: {
      text: badgeText(badge),
      width: badgeWidth(badge),
      markdown: badgeMarkdown(badge, slug, `${base}${page.badge(slug)}`, `${base}${page.repository(slug)}`),
    },
    document: `/${documentPath.repository(repository.slug)}`,
    packagesDocument: `/${documentPath.repositoryPackages(repository.slug)}`,
  };
};
