import { generateRepository, makePackages } from './apt-repository.ts';
import type { OriginServer } from './origin-server.ts';

/** How much there is in a round. */
export interface RoundSize {
  readonly repositories: number;
  /** The least packages of a repository. */
  readonly packages: number;
}

/** A repository that an origin serves. */
export interface ServedRepository {
  readonly slug: string;
  readonly uri: string;
}

/** Serves repositories of which other ones are there in each round, with other packages, and returns those there are. */
export const serveRound = async (
  origin: OriginServer,
  round: number,
  size: RoundSize,
): Promise<readonly ServedRepository[]> => {
  const served: ServedRepository[] = [];
  for (let number = 0; number < size.repositories; number++) {
    const slug = `r${number}`;
    if ((number + round) % 5 === 0) continue;
    const names = `${number % 4}-${(number + round) % 3}.`;
    const packages = makePackages(size.packages + ((number * 7 + round) % (size.packages / 2)), names, `1.${round}`);
    origin.serve(slug, await generateRepository({ packages, compressions: ['gz'], release: { Version: `${round}` } }));
    served.push({ slug, uri: origin.uri(slug) });
  }
  return served;
};
