import { readLastBuild } from '../../src/catalog/last-build.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { build, runBuild } from './builds.ts';
import { measureChangedMillion, measureColdBuilds } from './million-builds.ts';
import { communityInput } from './million-inputs.ts';
import { measureMillionServer } from './million-server.ts';
import { runNode } from './processes.ts';
import { count, type Figure, megabytes, seconds } from './report.ts';
import { changeOneRepository, mostOfCold, runSiteBuild } from './site-builds.ts';
import { takeFigures } from './take-figures.ts';
import { type Part, tell, tellWhile, type Workshop } from './workshop.ts';

// The most time beyond what Pagefind takes alone, and the most memory of all processes together.
const most = { seconds: 25, bytes: 2.5e9 } as const;

const measureCommunity = async (workshop: Workshop): Promise<Figure[]> => {
  const input = await communityInput(workshop);
  const built = await build(workshop, input, 'community');
  const unchanged = await runBuild(input.manifest, built.state, built.out);
  await input.change();
  const changed = await runBuild(input.manifest, built.state, built.out);
  tell(
    `cold ${seconds(built.cold.seconds)}, unchanged ${seconds(unchanged.seconds)}, changed ${seconds(changed.seconds)}`,
  );
  const catalog = catalogPath(built.state);
  const alone = await tellWhile(
    'Pagefind alone on the records of the community',
    runNode([workshop.script('pagefind-alone.ts'), catalog]),
  );
  const lastBuild = readLastBuild(built.state);
  const options = {
    catalogPath: catalog,
    outDir: workshop.path('community-site', 'out'),
    cacheDir: workshop.path('community-site', 'cache'),
    baseUrl: 'http://localhost:8080',
    ...(lastBuild === undefined ? {} : { lastBuild }),
  };
  const site = await tellWhile('the site of the community', runSiteBuild(workshop, options));
  changeOneRepository(catalog, 1);
  const changedSite = await tellWhile('the site after one repository changed', runSiteBuild(workshop, options));
  const allowed = Number(alone.stdout) + most.seconds;
  const { name } = input;
  const peak = site.peak ?? Number.NaN;
  return [
    {
      figure: 'cold build without site',
      input: name,
      measured: `${seconds(built.cold.seconds)}, ${megabytes(built.cold.peak)}`,
    },
    { figure: 'rebuild with nothing changed', input: name, measured: seconds(unchanged.seconds) },
    { figure: 'one package of the largest repository changed', input: name, measured: seconds(changed.seconds) },
    {
      figure: 'site',
      input: name,
      measured: `${seconds(site.took)}, ${count(site.summary.rendered)} pages and feeds; Pagefind alone ${seconds(Number(alone.stdout))}`,
      target: `≤ ${seconds(allowed)}`,
      met: site.took <= allowed,
    },
    {
      figure: 'site with one repository changed',
      input: name,
      measured: `${seconds(changedSite.took)}, ${count(changedSite.summary.rendered)} rendered`,
      target: `≤ ${seconds(site.took * mostOfCold)}`,
      met: changedSite.took <= site.took * mostOfCold,
    },
    {
      figure: 'peak memory of the processes of the site',
      input: name,
      measured: megabytes(peak),
      target: '≤ 2,500 MB',
      met: peak <= most.bytes,
    },
  ];
};

/** Everything at the size of all of Debian. */
export const millionPart: Part = {
  summary: 'builds and server at a million packages; an hour, fifteen gigabytes and a million files',
  run: (workshop) =>
    takeFigures([
      () => measureColdBuilds(workshop),
      () => measureMillionServer(workshop),
      () => measureChangedMillion(workshop),
    ]),
};

/** Builds and site at the size of a whole community. */
export const communityPart: Part = {
  summary: 'builds and site of a synthetic community: 460 repositories, 100,000 packages and their old versions',
  run: (workshop) => takeFigures([() => measureCommunity(workshop)]),
};
