import { statSync } from 'node:fs';
import path from 'node:path';
import { page as address } from '../../src/site/addresses.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { builtCorpus, builtLarge } from './builds.ts';
import { composeFigures, type Figure } from './report.ts';
import { type BuiltSite, measureSiteBuilds } from './site-builds.ts';
import { measurePages, type PageKinds } from './site-pages.ts';
import { Missing, type Part, type Workshop } from './workshop.ts';

const rounds = 3;
// What a build of the site on 63,000 packages may take.
const most = { seconds: 120, bytes: 3e9 } as const;

/** The heaviest of these pages. */
const heaviest = (out: string, addresses: readonly string[]): string => {
  const sizeOf = (where: string) => statSync(path.join(out, decodeURIComponent(where), 'index.html')).size;
  return addresses.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most));
};

const measureCorpus = ({ catalog: file, out }: BuiltSite): Promise<Figure[]> => {
  const catalog = new SiteCatalog(file);
  try {
    const names = [...catalog.packages.values()]
      .map(({ name }) => name.toLowerCase())
      .filter((name) => /^[a-z]{6,}$/.test(name));
    const words = names.filter((_, index) => index % Math.ceil(names.length / 12) === 0);
    const pages: PageKinds = {
      landing: address.landing,
      search: `${address.search}?q=${words[0] ?? ''}`,
      repository: heaviest(
        out,
        catalog.repositories.map(({ slug }) => address.repository(slug)),
      ),
      package: heaviest(
        out,
        [...catalog.packages.keys()].map((id) => address.package(id)),
      ),
    };
    return measurePages(out, pages, words);
  } finally {
    catalog.close();
  }
};

const take = async (workshop: Workshop, work: (workshop: Workshop) => Promise<readonly Figure[]>) => {
  try {
    return { figures: await work(workshop), missing: '' };
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    return { figures: [], missing: `Skipped: ${error.message}.\n` };
  }
};

/** The site: what its builds take, what its pages weigh, how fast its search answers, and what Lighthouse says. */
export const sitePart: Part = {
  summary: 'the site: cold and changed builds, weights, search in a browser, Lighthouse',
  run: async (workshop) => {
    const corpus = await take(workshop, async () => {
      const site = await measureSiteBuilds(workshop, await builtCorpus(workshop), rounds);
      return [...site.figures, ...(await measureCorpus(site))];
    });
    const large = await take(workshop, async () => {
      const site = await measureSiteBuilds(workshop, await builtLarge(workshop), 1, most);
      return site.figures;
    });
    return composeFigures([...corpus.figures, ...large.figures]) + corpus.missing + large.missing;
  },
};
