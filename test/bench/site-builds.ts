import { spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { readLastBuild } from '../../src/catalog/last-build.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import type { SitePublishing, SiteSummary } from '../../src/pipeline/site-step.ts';
import type { Built } from './builds.ts';
import { watchMemory } from './process-tree.ts';
import { endWithBench } from './processes.ts';
import { count, type Figure, megabytes, seconds } from './report.ts';
import { median } from './statistics.ts';
import { tell, type Workshop } from './workshop.ts';

/** The share of a cold build's time that a build may take after one repository changed. */
export const mostOfCold = 1 / 3;

/** The cost of building a site. */
export interface SiteRun {
  /** In seconds. */
  readonly took: number;
  readonly summary: SiteSummary;
  /** The most memory that all its processes had together, in bytes. */
  readonly peak: number | undefined;
}

/** Builds the site of a catalog in a process of its own. */
export const runSiteBuild = async (workshop: Workshop, options: SitePublishing): Promise<SiteRun> => {
  const child = endWithBench(
    spawn(process.execPath, [workshop.script('build-site.ts')], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  // Standard input, because the outcomes of hundreds of repositories are longer than arguments may be.
  child.stdin.end(JSON.stringify(options));
  const readPeak = watchMemory(child.pid ?? 0);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  const peak = readPeak();
  if (status !== 0) throw new Error('The site could not be built; the reason is above.');
  return { ...(JSON.parse(text) as Omit<SiteRun, 'peak'>), peak };
};

/** Changes every record of the repository of median size, as a new release of all its packages would. */
export const changeOneRepository = (catalog: string, round: number): void => {
  const database = new DatabaseSync(catalog);
  const rows = database.prepare('SELECT id FROM repository ORDER BY package_count').all() as { id: number }[];
  database
    .prepare(`UPDATE record SET json = json_replace(json || 'null}', '$.maintainer', ?) WHERE repository = ?`)
    .run(`Release ${round}`, rows[Math.floor(rows.length / 2)]?.id ?? 0);
  // A record is stored without its end, which is added in a document.
  database.exec(`UPDATE record SET json = substr(json, 1, length(json) - 5) WHERE json LIKE '%null}'`);
  database.close();
};

/** The site of an index, its figures, and its folder. */
export interface BuiltSite {
  readonly figures: readonly Figure[];
  readonly catalog: string;
  readonly out: string;
}

const listed = (runs: readonly SiteRun[]): string => {
  const each = runs.map(({ took }) => took.toFixed(2)).join(', ');
  return `${seconds(secondsOf(runs))}${runs.length > 1 ? ` (${each})` : ''}`;
};
const secondsOf = (runs: readonly SiteRun[]): number => median(runs.map(({ took }) => took));

/**
 * Builds the site of an index `rounds` times from nothing, and after each once without changes and once with one
 * repository changed.
 */
export const measureSiteBuilds = async (
  workshop: Workshop,
  { input, state }: Built,
  rounds: number,
  most?: { readonly seconds: number; readonly bytes: number },
): Promise<BuiltSite> => {
  const catalog = workshop.path(`${input.name}-site.sqlite`);
  const lastBuild = readLastBuild(state);
  // Each round has folders of its own, which are removed at the end: without a journal, ext4 keeps the places of
  // recently deleted files free for minutes, and looks at each of them for each new file. That doubled the time of a
  // build.
  const optionsOf = (round: number): SitePublishing => ({
    catalogPath: catalog,
    outDir: workshop.path(`${input.name}-site-${round}`, 'out'),
    cacheDir: workshop.path(`${input.name}-site-${round}`, 'cache'),
    baseUrl: 'http://localhost:8080',
    ...(lastBuild === undefined ? {} : { lastBuild }),
  });
  const [cold, unchanged, changed]: [SiteRun[], SiteRun[], SiteRun[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    tell(`site of the ${input.name} index, ${round + 1} of ${rounds}`);
    const options = optionsOf(round);
    copyFileSync(catalogPath(state), catalog);
    cold.push(await runSiteBuild(workshop, options));
    if (input.repositories < 2) continue;
    unchanged.push(await runSiteBuild(workshop, options));
    changeOneRepository(catalog, round);
    changed.push(await runSiteBuild(workshop, options));
  }
  const peak = cold[0]?.peak;
  const name = input.name;
  const figures: Figure[] = [
    {
      figure: 'cold build of the site',
      input: name,
      measured: `${listed(cold)}, ${count(cold[0]?.summary.rendered ?? 0)} pages and feeds`,
      ...(most === undefined ? {} : { target: `≤ ${seconds(most.seconds)}`, met: secondsOf(cold) <= most.seconds }),
    },
  ];
  if (peak !== undefined) {
    figures.push({
      figure: 'peak memory of its processes',
      input: name,
      measured: megabytes(peak),
      ...(most === undefined ? {} : { target: `≤ ${megabytes(most.bytes)}`, met: peak <= most.bytes }),
    });
  }
  if (changed.length > 0) {
    const ratio = secondsOf(changed) / secondsOf(cold);
    figures.push(
      { figure: 'site with nothing changed', input: name, measured: listed(unchanged) },
      {
        figure: 'site with one repository changed',
        input: name,
        measured: `${listed(changed)}, ${(100 * ratio).toFixed(0)} % of the cold build, ${changed[0]?.summary.rendered ?? 0} rendered`,
        target: '≤ a third of the cold build',
        met: ratio <= mostOfCold,
      },
    );
  }
  return { figures, catalog, out: optionsOf(rounds - 1).outDir };
};
