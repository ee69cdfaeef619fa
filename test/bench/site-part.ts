import { builtCorpus, builtLarge } from './builds.ts';
import { composeFigures, type Figure } from './report.ts';
import { measureSiteBuilds } from './site-builds.ts';
import { Missing, type Part, type Workshop } from './workshop.ts';

const rounds = 3;
// What a build of the site on 63,000 packages may take.
const most = { seconds: 120, bytes: 3e9 } as const;

const take = async (workshop: Workshop, work: (workshop: Workshop) => Promise<readonly Figure[]>) => {
  try {
    return { figures: await work(workshop), missing: '' };
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    return { figures: [], missing: `Skipped: ${error.message}.\n` };
  }
};

/** The site: what its builds take. */
export const sitePart: Part = {
  summary: 'the site: cold and changed builds',
  run: async (workshop) => {
    const corpus = await take(workshop, async () => {
      const site = await measureSiteBuilds(workshop, await builtCorpus(workshop), rounds);
      return site.figures;
    });
    const large = await take(workshop, async () => {
      const site = await measureSiteBuilds(workshop, await builtLarge(workshop), 1, most);
      return site.figures;
    });
    return composeFigures([...corpus.figures, ...large.figures]) + corpus.missing + large.missing;
  },
};
