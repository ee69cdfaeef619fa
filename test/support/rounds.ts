import { generateRepository, makePackages } from './apt-repository.ts';
import type { OriginServer } from './origin-server.ts';

/** The size of a round. */
export interface RoundSize {
  readonly repositories: number;
  /** The fewest packages of a repository. */
  readonly packages: number;
}

/** A repository that an origin serves. */
export interface ServedRepository {
  readonly slug: string;
  readonly uri: string;
}

/** Serves repositories that differ from round to round, as do their packages. Returns those of this round. */
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
