import type { Addressing } from '../contract/public-addresses.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import type { SectionKind } from '../contract/sections.ts';
import type { Service } from '../contract/service-file.ts';
import { computeFigures, type Figures, packagesByKind } from './overview.ts';
import type { PackageSummary } from './package-summary.ts';
import { packagesIn } from './repository-view.ts';
import { choosePictures, chooseRepositoryPictures, type SharePicture } from './share-choice.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** The people who run the service, as shown on pages. What is left out is not shown. */
export type SiteService = Pick<Service, 'name'> & Partial<Pick<Service, 'contact_email' | 'copyright'>>;

/** The service, if it has no name of its own. */
const unnamed: SiteService = { name: 'Debdex' };

/** What every page may use. */
export interface Site extends Required<Addressing> {
  readonly catalog: SiteCatalog;
  readonly service: SiteService;
  /** Day on which the privacy policy last changed, if known. */
  readonly policyUpdated: string | undefined;
  /** The public key with which generations are signed, if they are. */
  readonly signingKey: string | undefined;
  /** The safety list. */
  readonly safety: readonly SafetyEntry[];
  readonly figures: Figures;
  /** The share pictures of packages that have one, by identifier. */
  readonly pictures: ReadonlyMap<string, SharePicture>;
  /** The share pictures of repositories, by slug. */
  readonly repositoryPictures: ReadonlyMap<string, SharePicture>;
  /** What to call each repository in a list of all, by slug. */
  readonly repositoryNames: ReadonlyMap<string, string>;
  /** Packages of each repository, by slug, ordered by name. */
  readonly inRepository: ReadonlyMap<string, readonly PackageSummary[]>;
  /** Packages of each section kind that has any, ordered by name. */
  readonly byKind: ReadonlyMap<SectionKind, readonly PackageSummary[]>;
}

// Pages are bundled before they run, so a variable of this module would exist twice. The bundle runs in the process
// that started the build, where a registered symbol is the same in both.
const key = Symbol.for('debdex.site');
const shared = globalThis as { [key]?: Site | undefined };

/** What else pages need, as in `Site`, and whether all packages have a share picture. */
type Provided = {
  readonly [Name in 'policyUpdated' | 'signingKey' | 'service' | 'safety']?: Site[Name] | undefined;
} & {
  readonly hasAllPictures?: boolean | undefined;
};

/** Gives the catalog to the pages of the following build, or takes it away. */
export const provideSite = (
  catalog: SiteCatalog | undefined,
  { base, staticRefs = false }: Addressing = { base: '' },
  { policyUpdated, signingKey, service = unnamed, safety = [], hasAllPictures = false }: Provided = {},
): void => {
  const inRepository = catalog === undefined ? new Map<string, PackageSummary[]>() : packagesIn(catalog);
  shared[key] =
    catalog === undefined
      ? undefined
      : {
          catalog,
          service,
          base,
          staticRefs,
          policyUpdated,
          signingKey,
          safety,
          figures: computeFigures(catalog),
          pictures: choosePictures(catalog, service.name, hasAllPictures),
          repositoryPictures: chooseRepositoryPictures(
            catalog,
            (slug) => inRepository.get(slug)?.length ?? 0,
            service.name,
            hasAllPictures,
          ),
          repositoryNames: new Map(catalog.repositories.map(({ slug, toldName }) => [slug, toldName])),
          inRepository,
          byKind: packagesByKind(catalog),
        };
};

/** The site that is being built. @throws Error outside of a build */
export const site = (): Site => {
  const provided = shared[key];
  if (provided === undefined) throw new Error('The site is built by scripts/build.ts, which hands it a catalog.');
  return provided;
};
