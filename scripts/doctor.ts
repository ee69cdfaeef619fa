import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { countPackages, readRepositoryFindings, readRepositoryRows } from '../src/catalog/reading.ts';
import { CatalogBuild } from '../src/catalog/state-catalog.ts';
import { updateCatalog } from '../src/catalog/update.ts';
import { type ManifestEntry, manifestEntrySchema } from '../src/contract/manifest.ts';
import { sayUnreadable } from '../src/contract/mistakes.ts';
import type { RepositoryRecord } from '../src/contract/records.ts';
import { readRedirectTargets } from '../src/contract/redirected.ts';
import type { SafetyEntry } from '../src/contract/safety.ts';
import { crawlAll } from '../src/crawl/crawl.ts';
import { findOffers, type Offer } from '../src/crawl/offers.ts';
import { composeFindings } from '../src/documents/findings-record.ts';
import { printable } from '../src/log/log-line.ts';
import { type FoundUnsafe, findUnsafe } from '../src/safety/find-unsafe.ts';
import { createSafetyList } from '../src/safety/safety-list.ts';
import { asUnsafe, type DiagnosedFinding, type Diagnosis, diagnose, doctorCommand } from '../src/site/diagnosis.ts';
import { unmended } from '../src/site/mending.ts';
import { isToMend } from '../src/site/shown-findings.ts';
import { openStore } from '../src/snapshots/store.ts';
import { buildOptions } from './build-options.ts';
import { chooseNearest, composeEntry, findAsked, findListed, listOffers, readListed } from './doctor-manifest.ts';
import { exitCodes } from './exit-codes.ts';
import { openFetcher } from './open-fetcher.ts';
import { type Command, type OptionValues, proxyVariables, runCommand, UsageError } from './options.ts';
import { dataOption, manifestOf, readOwnUnsafe, readService } from './read-service.ts';

const command = {
  name: 'doctor',
  summary:
    'Crawls one repository and prints what is wrong with it, what its origin offers, and what to write into the manifest. Sends the headers and verifies with the key that the manifest has for its address, and says which entries of the manifest have mistakes: it does without those.',
  operand: 'URL',
  options: {
    suite: {
      type: 'string',
      value: 'SUITE',
      help: 'Suite. Without it: a flat repository.',
    },
    component: { type: 'string', value: 'NAME', help: 'Component of the suite.' },
    binary: { type: 'string', value: 'ARCH', help: 'Architecture of the suite.' },
    key: {
      type: 'string',
      value: 'FILE',
      help: 'Armoured public key to verify with. Without it: that of the manifest, if it has one.',
    },
    'allow-private-networks': buildOptions['allow-private-networks'],
    data: dataOption,
    json: { type: 'boolean', help: 'Print the findings document instead of words.' },
  },
  variables: [proxyVariables],
  endings: [
    [exitCodes.done, 'nothing keeps packages or updates from people'],
    [exitCodes.nothingUsable, 'a fault does, or it could not be read'],
    [exitCodes.usage, 'bad usage: a flag, the safety list or service.yaml'],
  ],
} as const satisfies Command;

type Values = OptionValues<typeof command.options>;

const slug = 'repository';
const offersMs = 30_000;

const readKey = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--key: ${file} ${sayUnreadable(error) ?? `cannot be read: ${(error as Error).message}`}`);
  }
};

const readEntry = (uri: string, { suite, component, binary, key }: Values): ManifestEntry => {
  const given = { suite, component, binary, ...(key === undefined ? {} : { key: readKey(key) }) };
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const entry = manifestEntrySchema.safeParse({ slug, uri, ranking: 3, ...fields });
  if (entry.success) return entry.data;
  const [issue] = entry.error.issues;
  throw new UsageError(`${issue?.path.join('.') === 'uri' ? 'URL' : `--${issue?.path.join('.')}`} ${issue?.message}`);
};

const describe = ({ weight, title, count, for_operator, for_owner, mending }: DiagnosedFinding): string => {
  const { commands, isAbove } = mending;
  const run = commands.map((line) => `    ${line}\n`).join('');
  const told = run === '' ? '' : `  In the folder that holds Packages and Release:\n${run}`;
  const above = isAbove ? '  The commands for a finding above mend this one too.\n' : '';
  return `\n[${weight}] ${title}${count > 1 ? ` (${count} times)` : ''}\n  ${for_operator}\n  To mend it: ${for_owner}\n${told}${above}`;
};

const examine = async (entry: ManifestEntry, values: Values, folder: string) => {
  const fetcher = openFetcher(values, readService(values.data).contact_email);
  const store = openStore(folder);
  const catalog = new CatalogBuild(folder);
  try {
    const [outcome] = await crawlAll([entry], { store, fetcher, now: () => new Date() });
    await updateCatalog(catalog, [entry], store, { base: 'http://localhost', now: new Date() });
    const [found] = readRepositoryFindings(catalog.database);
    const { code = null, detail } = outcome ?? {};
    const failure = code === null ? undefined : { code, count: 1, example: detail ?? '' };
    const [row] = readRepositoryRows(catalog.database);
    const record = composeFindings(slug, found, failure);
    // An origin that never answered offers nothing, and is left alone.
    const isAsked = !values.json && (code === null || /^(release|index)-/.test(code));
    const signal = AbortSignal.timeout(offersMs);
    const targets = [...readRedirectTargets(outcome?.findings ?? [])];
    // Of what was never read there are no findings.
    const onRedirect = ({ href }: URL) => targets.push(href);
    const how = { fetcher, signal, headers: entry.headers, onRedirect };
    const offers = isAsked ? await findOffers(entry, code !== null, how) : [];
    const mended = row ? (JSON.parse(row.record) as RepositoryRecord) : { suite: entry.suite };
    const packages = countPackages(catalog.database);
    return { record, diagnosis: diagnose(record, packages, mended), packages, offers, targets };
  } finally {
    catalog.discard();
    await fetcher.close();
  }
};

const report = ({ verdict, signature, findings }: Diagnosis, nothing = 'Nothing is wrong with it.'): string => {
  const signed = signature ? `\n${signature.text} ${signature.signers.join(', ')}`.trimEnd() : '';
  const listed = findings.length === 0 ? `\n${nothing}\n` : findings.map(describe).join('');
  return `${verdict}${signed}\n${listed}`;
};

/**
 * The diagnosis of a place without a Release, where the origin has others: a command would write one where none belongs.
 * Nothing else is found where nothing was ever read.
 */
const asElsewhere = ({ findings, ...diagnosis }: Diagnosis): Diagnosis => ({
  ...diagnosis,
  findings: findings.map((finding) => ({
    ...finding,
    for_owner: 'Examine what the origin offers, below. If that is not meant, publish a Release beside the index.',
    mending: unmended,
  })),
});

const reportUnsafe = ({ entry, target }: FoundUnsafe<SafetyEntry>, diagnosis: Diagnosis): string =>
  `The safety list calls ${target === undefined ? 'it' : `${target}, where it redirects to,`} unsafe to add: ${entry.reason}\n${report(diagnosis, 'Nothing else is wrong with it.')}`;

/** Prints what to write into the manifest in a folder, or where that already is, and other possibilities. */
const reportOffers = (
  entry: ManifestEntry,
  failed: boolean,
  offers: readonly Offer[],
  listed: readonly ManifestEntry[],
  folder: string,
  isPrivate: boolean,
): string => {
  const { key, headers } = entry;
  const nearest = failed ? chooseNearest(entry, offers) : entry;
  const words = failed ? 'The origin offers' : 'The origin also offers';
  const again =
    failed && nearest
      ? `To examine ${offers.length === 1 ? 'it' : 'the nearest'}: ${doctorCommand(nearest.suite === './' ? { uri: nearest.uri } : nearest, isPrivate)}\n`
      : '';
  const others = offers.length > 0 ? `\n${words}:\n${listOffers(offers)}${again}` : '';
  if (nearest === undefined) return others;
  const file = findListed(listed, folder, nearest);
  if (file !== undefined) return `${others}\nThe manifest has it already, in ${file}.\n`;
  // Their values may be secret, and what is printed here is shown to others.
  const asked =
    headers === undefined
      ? ''
      : `\nIt was asked with the headers of another entry of the manifest for this address (${Object.keys(headers).join(', ')}): copy them into this one.\n`;
  return `${others}\n${composeEntry({ ...nearest, ...(key === undefined ? {} : { key }) }, folder)}${asked}`;
};

await runCommand(command, async (values, uri) => {
  const given = readEntry(uri, values);
  const manifest = manifestOf(values);
  const { entries, mistakes } = await readListed(manifest);
  if (mistakes !== undefined)
    process.stderr.write(
      `The manifest has mistakes. Entries that have one are left aside here, and a build refuses them all:\n${mistakes}\n`,
    );
  const entry = { ...findAsked(entries, given), ...given };
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-doctor-'));
  try {
    const safety = createSafetyList(readOwnUnsafe(values.data));
    const { record, diagnosis, packages, offers, targets } = await examine(entry, values, folder);
    const unsafe = findUnsafe(safety, entry.uri, targets);
    const isElsewhere = record.failure?.code === 'release-missing' && offers.length > 0;
    const tell = () =>
      // What is unsafe is not to be written into the manifest.
      unsafe === undefined
        ? report(isElsewhere ? asElsewhere(diagnosis) : diagnosis) +
          reportOffers(entry, record.failure !== null, offers, entries, manifest, values['allow-private-networks'])
        : reportUnsafe(unsafe, asUnsafe(diagnosis, packages));
    const text = values.json ? `${JSON.stringify(record, null, 1)}\n` : tell();
    // The text contains words of the origin.
    process.stdout.write(printable(text));
    const isBroken = record.failure !== null || record.findings.some(isToMend);
    if (isBroken) process.exitCode = exitCodes.nothingUsable;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
