import { statSync } from 'node:fs';
import path from 'node:path';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { page as address } from '../../src/site/addresses.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { corpusInput } from './inputs.ts';
import { npmScript, runNode } from './processes.ts';
import { composeFigures } from './report.ts';
import { startOurs } from './servers.ts';
import { measurePages, type PageKinds } from './site-pages.ts';
import { type Part, tellWhile } from './workshop.ts';

/** The heaviest of these pages. */
const heaviest = (out: string, addresses: readonly string[]): string => {
  const sizeOf = (where: string) => statSync(path.join(out, decodeURIComponent(where), 'index.html')).size;
  return addresses.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most));
};

/** The commonest word of these names. */
const commonest = (names: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const word of names.flatMap((name) => name.toLowerCase().match(/[a-z]{5,}/g) ?? [])) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0])[0];
};

const choosePages = (state: string, out: string) => {
  const catalog = new SiteCatalog(catalogPath(state));
  try {
    const names = [...catalog.packages.values()]
      .map(({ name }) => name.toLowerCase())
      .filter((name) => /^[a-z]{6,}$/.test(name));
    const words = names.filter((_, index) => index % Math.ceil(names.length / 12) === 0);
    const repositories = catalog.repositories.map(({ slug }) => address.repository(slug));
    const packages = [...catalog.packages.keys()].map((id) => address.package(id));
    const common = commonest([...catalog.packages.values()].map(({ name }) => name));
    const pages: PageKinds = {
      landing: address.landing,
      search: address.search,
      results: `${address.search}?q=${words[0] ?? ''}`,
      repository: heaviest(out, repositories),
      package: heaviest(out, packages),
    };
    return { pages, many: `${address.search}?q=${common}`, words };
  } finally {
    catalog.close();
  }
};

/** The pages in a phone's browser: their weight, the speed of their search, and the scores of Lighthouse. */
export const pagesPart: Part = {
  summary: 'pages in the browser of a phone: weights, suggestions, Lighthouse',
  run: async (workshop) => {
    const input = await corpusInput(workshop);
    const [state, out] = [workshop.path('pages', 'state'), workshop.path('pages', 'dist')];
    const flags = ['--manifest', input.manifest, '--state', state, '--out', out, '--allow-private-networks'];
    await tellWhile('building the site of the corpus', runNode([...npmScript('build'), ...flags]));
    const { pages, many, words } = choosePages(state, out);
    const server = await startOurs(workshop, { state, out });
    return composeFigures(await measurePages(out, server.address, pages, many, words));
  },
};
