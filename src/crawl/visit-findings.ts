import { checkValidity } from '../apt/release.ts';
import { type Finding, FindingCounter } from '../contract/findings.ts';
import type { Found, Signing, Snapshot } from '../snapshots/snapshot.ts';
import type { FoundRelease } from './fetch-release.ts';
import { listCandidates } from './index-candidates.ts';
import type { IndexPlace } from './index-names.ts';
import { describeSigning, faultOf } from './signing.ts';

// Findings about the bytes of an index as a file. Earlier versions stored the findings of visits with them.
const contentCodes: ReadonlySet<string> = new Set(['index-variants-differ', 'index-several-streams']);

/** The findings of a snapshot that hold as long as its bytes stay. */
export const contentFindings = ({ findings }: Pick<Snapshot, 'findings'>): Finding[] =>
  findings.filter(({ code }) => contentCodes.has(code));

const addHashes = (counter: FindingCounter, place: IndexPlace, { file: { path }, content }: FoundRelease): void => {
  const listed = listCandidates(place, content).find((candidate) => candidate.listed)?.listed;
  if (content.files.size === 0) counter.add('release-without-hashes', path);
  else if (!listed) counter.add('index-not-listed', path);
  else if (!listed.sha256 && !listed.sha512) counter.add('release-weak-hashes', path);
};

/**
 * Everything that is wrong with a repository now: with the release and the index in force, on this day (a date passes
 * without a change of content), and what visits `found`, each topic as of the last time it was asked about.
 */
export const composeFindings = (
  { origin, findings }: Pick<Snapshot, 'origin' | 'findings'>,
  release: FoundRelease,
  signing: Signing,
  found: Found,
  now: Date,
): Finding[] => {
  const counter = new FindingCounter();
  counter.addAll(findings);
  const { suite, component, binary } = origin;
  addHashes(counter, { suite, component: component ?? undefined, binary: binary ?? undefined }, release);
  if (release.name === 'InRelease' && !release.signed) counter.add('inrelease-unsigned', release.file.path);
  for (const { code, detail } of [...release.content.findings, ...checkValidity(release.content, now)]) {
    counter.add(code, detail);
  }
  const fault = faultOf(signing.state);
  if (fault !== undefined) counter.add(fault, describeSigning(signing, release.file.path));
  for (const topic of Object.values(found)) counter.addAll(topic);
  return counter.list();
};
