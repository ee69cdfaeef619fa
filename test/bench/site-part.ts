import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { builtCorpus, builtLarge } from './builds.ts';
import { measureFileReads } from './file-reads.ts';
import { runNode } from './processes.ts';
import { composeFigures, type Figure, seconds } from './report.ts';
import { measureSiteBuilds } from './site-builds.ts';
import { median } from './statistics.ts';
import { measureWholeBuilds } from './whole-builds.ts';
import { Missing, type Part, tell, type Workshop } from './workshop.ts';

const rounds = 3;
// The most that a build of the site with 63,000 packages may take beyond the time of Pagefind alone, and the most
// memory.
const most = { seconds: 15, bytes: 2e9 } as const;

/** The seconds that Pagefind takes for the records of a catalog, and nothing else. */
const runPagefindAlone = async (workshop: Workshop, catalog: string): Promise<number> => {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    tell(`Pagefind alone, ${round + 1} of ${rounds}`);
    taken.push(Number((await runNode([workshop.script('pagefind-alone.ts'), catalog])).stdout));
  }
  return median(taken);
};

const take = async (workshop: Workshop, work: (workshop: Workshop) => Promise<readonly Figure[]>) => {
  try {
    return { figures: await work(workshop), missing: '' };
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    return { figures: [], missing: `Skipped: ${error.message}.\n` };
  }
};

/** The site: the cost of its builds, and of its search to a browser. */
export const sitePart: Part = {
  summary: 'the site: cold and changed builds, and what a search among its files reads',
  run: async (workshop) => {
    const corpus = await take(workshop, async () => {
      const built = await builtCorpus(workshop);
      const site = await measureSiteBuilds(workshop, built, rounds);
      const reads = await measureFileReads(built, site.out);
      return [...site.figures, reads, ...(await measureWholeBuilds(workshop, rounds))];
    });
    const large = await take(workshop, async () => {
      const built = await builtLarge(workshop);
      const alone = await runPagefindAlone(workshop, catalogPath(built.state));
      const allowed = { seconds: alone + most.seconds, bytes: most.bytes };
      const site = await measureSiteBuilds(workshop, built, rounds, allowed);
      const figure = {
        figure: 'Pagefind alone on the same records',
        input: built.input.name,
        measured: seconds(alone),
      };
      return [figure, ...site.figures, await measureFileReads(built, site.out)];
    });
    return composeFigures([...corpus.figures, ...large.figures]) + corpus.missing + large.missing;
  },
};
