import { isHeldBack } from '../catalog/last-build.ts';
import { componentOf } from '../catalog/older-reading.ts';
import { encodeFolderName } from '../contract/filenames.ts';
import { isFindingCode, withoutOrders } from '../contract/finding-texts.ts';
import { documentPath } from '../contract/paths.ts';
import type { RepositoryRecord } from '../contract/records.ts';
import { composeFindings } from '../documents/findings-record.ts';
import { asUnsafe, type Diagnosis, diagnose, doctorCommand, unusable } from './diagnosis.ts';
import { heldSentence } from './held-back.ts';
import { unmended } from './mending.ts';
import { isTroubled, isUnsafe, type Outcome, type Repository, type UnsafeDoubt } from './repository.ts';
import { isToMend } from './shown-findings.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** The content of the doctor's page about one repository. */
export interface DoctorView {
  readonly slug: string;
  /** The name of its folder below `/doctor/`. */
  readonly folder: string;
  readonly name: string;
  readonly uri: string;
  /** Whether it was ever read, so that it has a page of its own. */
  readonly isRead: boolean;
  /** What the safety list says of it, if it names it. */
  readonly unsafe: UnsafeDoubt | undefined;
  readonly diagnosis: Diagnosis;
  /** How many of the findings need fixing. */
  readonly toMend: number;
  /** The command that examines it again. */
  readonly command: string;
  /** The same for programs. */
  readonly document: string | undefined;
}

const failureOf = (outcome: Outcome | undefined) =>
  isTroubled(outcome) && outcome.code !== null && isFindingCode(outcome.code)
    ? { code: outcome.code, earlier: outcome.earlier, count: 1, example: '', since: outcome.since }
    : undefined;

// For a failure from another version, which has no texts here.
const unnamed: Diagnosis['findings'][number] = {
  weight: 'broken',
  count: 1,
  title: 'It cannot be read',
  for_operator: 'The last crawl took nothing from it.',
  for_owner: 'Run the command below, which says why.',
  since: null,
  isEarlier: false,
  mending: unmended,
};

/** The component and architecture of an index, from its path, which may end in its hash (`by-hash`). */
const placeOf = (record: RepositoryRecord) => {
  const { uri, suite, origin_packages_path: path } = record;
  const component = componentOf(record);
  const [, binary] = /^.*\/binary-([^/]+)\//.exec(path) ?? [];
  // Without both, the doctor is asked what the origin offers.
  return component === null || binary === undefined ? { uri } : { uri, suite, component, binary };
};

const forReaders = <T extends { readonly code: string; readonly for_operator: string }>(finding: T): T =>
  isFindingCode(finding.code)
    ? { ...finding, for_operator: withoutOrders(finding.code, finding.for_operator) }
    : finding;

type Examined = Pick<DoctorView, 'slug' | 'name' | 'uri' | 'isRead' | 'unsafe' | 'command' | 'document'> & {
  readonly found: Parameters<typeof composeFindings>[1];
  readonly outcome: Outcome | undefined;
  readonly packages: number;
  readonly mended: Parameters<typeof diagnose>[2];
};

/** The report about it. The sentence of a failure comes from the build, which put the evidence into it. */
const diagnosisOf = ({ slug, found, outcome, packages, mended }: Examined): Diagnosis => {
  const composed = composeFindings(slug, found, failureOf(outcome));
  const record = { ...composed, findings: composed.findings.map(forReaders) };
  const told = { for_operator: outcome?.reason ?? record.failure?.for_operator ?? unnamed.for_operator };
  if (record.failure !== null) {
    const failed = diagnose({ ...record, failure: { ...record.failure, ...told } }, packages, mended);
    if (outcome === undefined || !isHeldBack(outcome)) return failed;
    // Nothing is broken: it waits for a decision, as its own page says.
    const findings = failed.findings.map((one) => (one.isEarlier ? one : { ...one, weight: 'weak' as const }));
    return { ...failed, standing: 'held', verdict: heldSentence(outcome), findings };
  }
  const read = diagnose(record, packages, mended);
  if (!isTroubled(outcome)) return read;
  const earlier = read.findings.map((finding) => ({ ...finding, isEarlier: true }));
  return {
    ...read,
    standing: 'unusable',
    verdict: unusable,
    findings: [{ ...unnamed, ...told, since: outcome.since ?? null }, ...earlier],
  };
};

const viewOf = (examined: Examined): DoctorView => {
  const { slug, name, uri, isRead, unsafe, command, document } = examined;
  const found = diagnosisOf(examined);
  const diagnosis = unsafe === undefined ? found : asUnsafe(found, examined.packages);
  const toMend = diagnosis.findings.filter(isToMend).length;
  return { slug, folder: encodeFolderName(slug), name, uri, isRead, unsafe, diagnosis, toMend, command, document };
};

/** The report about a repository of the catalog with that many packages (identifiers). */
const doctorView = (repository: Repository, packages: number): DoctorView => {
  const { slug, name, record, outcome, findings, signing, signers } = repository;
  return viewOf({
    slug,
    name,
    uri: record.uri,
    isRead: true,
    unsafe: isUnsafe(repository) ? repository.doubt : undefined,
    found: { findings, signing: { state: signing, signers } },
    outcome,
    packages,
    mended: record,
    command: doctorCommand(placeOf(record)),
    document: `/${documentPath.repositoryFindings(slug)}`,
  });
};

const neverRead = (outcome: Outcome, unsafe: UnsafeDoubt | undefined): DoctorView => {
  const { slug, uri, index: { suite, component, binary } = { suite: './' } } = outcome;
  return viewOf({
    slug,
    name: slug,
    uri,
    isRead: false,
    unsafe,
    found: undefined,
    outcome,
    packages: 0,
    mended: { suite },
    command: doctorCommand(suite === './' ? { uri } : { uri, suite, component, binary }),
    document: undefined,
  });
};

/** The reports about all listed repositories, the most urgent first. */
export const doctorViews = (
  catalog: SiteCatalog,
  inRepository: ReadonlyMap<string, { readonly length: number }>,
): DoctorView[] => {
  const unread = (catalog.lastBuild?.repositories ?? []).filter(({ slug }) => catalog.repository(slug) === undefined);
  const views = [
    ...unread.map((one) => neverRead(one, catalog.unsafeAt(one.uri))),
    ...catalog.repositories.map((one) => doctorView(one, inRepository.get(one.slug)?.length ?? 0)),
  ];
  const rank = ({ unsafe, diagnosis: { standing }, toMend }: DoctorView) =>
    unsafe !== undefined || standing === 'unusable' ? 0 : standing === 'held' || toMend > 0 ? 1 : 2;
  const found = ({ diagnosis }: DoctorView) => diagnosis.findings.length;
  return views.sort(
    (a, b) => rank(a) - rank(b) || b.toMend - a.toMend || found(b) - found(a) || (a.slug < b.slug ? -1 : 1),
  );
};
