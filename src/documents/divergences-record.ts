import type { Build, DivergenceEvent, Divergences } from '../catalog/divergence-reading.ts';
import type { DivergencesRecord } from '../contract/records.ts';

const toBuild = ({ name: package_id, version, architecture }: Build) => ({ package_id, version, architecture });

const composeChange = ({ repositories, at, count, builds }: DivergenceEvent): DivergencesRecord['changed'] => {
  const [repository_id, other] = repositories;
  return other === undefined ? [{ repository_id, changed: at, count, builds: builds.map(toBuild) }] : [];
};

/** The contradictions in the index, in their public form. */
export const composeDivergences = ({ pairs, events }: Divergences): DivergencesRecord => ({
  pairs: pairs.map(({ repositories, at, count, builds }) => ({
    repositories: [...repositories],
    since: at,
    count,
    builds: builds.map(toBuild),
  })),
  changed: events.flatMap(composeChange),
});
