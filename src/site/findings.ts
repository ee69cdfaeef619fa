import type { Finding } from '../contract/findings.ts';

/** A finding in words its owner can act on. */
export interface Advice {
  readonly title: string;
  readonly advice: string;
  /** `broken` keeps packages or updates away from people, `weak` risks something, `note` is worth tidying. */
  readonly weight: 'broken' | 'weak' | 'note';
}

const broken = (title: string, advice: string): Advice => ({ title, advice, weight: 'broken' });
const weak = (title: string, advice: string): Advice => ({ title, advice, weight: 'weak' });
const note = (title: string, advice: string): Advice => ({ title, advice, weight: 'note' });

const leftOut = 'Such packages are left out here and ignored by APT.';

const known: Readonly<Record<string, Advice>> = {
  'package-missing': broken('A stanza has no Package field', `Add the identifier. ${leftOut}`),
  'package-malformed': broken('A Package field is not an identifier', `Take out control characters. ${leftOut}`),
  'version-missing': broken('A package has no version', `Add a Version field. ${leftOut}`),
  'version-unreadable': broken('A version cannot be read', `Take out control characters. ${leftOut}`),
  'version-malformed': weak(
    'A version is not a Debian version',
    'Begin it with a digit and use only letters, digits and . + ~ - so that every package manager orders it alike.',
  ),
  'architecture-missing': broken('A package has no architecture', `Add an Architecture field. ${leftOut}`),
  'architecture-malformed': broken(
    'An architecture is malformed',
    `Name one architecture, such as iphoneos-arm64. ${leftOut}`,
  ),
  'filename-missing': broken(
    'A package has no file',
    `Add a Filename field: without it nothing can be downloaded. ${leftOut}`,
  ),
  'filename-malformed': broken('A Filename is malformed', `Take out control characters. ${leftOut}`),
  'size-missing': note(
    'A package does not state its size',
    'Add a Size field, so that downloads can be checked and their progress shown. Scanning tools write it by themselves.',
  ),
  'size-malformed': note('A size is not a number', 'Write Size in bytes, with digits only.'),
  'installed-size-malformed': note(
    'An installed size is not a number',
    'Write Installed-Size in kibibytes, digits only.',
  ),
  'sha256-malformed': weak('A SHA256 is malformed', 'Write 64 hexadecimal digits, so that downloads can be verified.'),
  'icon-malformed': note(
    'An icon has no web address',
    'Give Icon an https:// address. Paths such as file:///… exist only on devices where the package is installed.',
  ),
  'header-malformed': note('A header image has no web address', 'Give Header an https:// address.'),
  'native-depiction-malformed': note(
    'A native depiction has no web address',
    'Give SileoDepiction an https:// address of a JSON document.',
  ),
  'stanza-duplicate': weak(
    'The same package appears twice',
    'Two stanzas share package, version and architecture; the last one counts. Remove the other.',
  ),
  'stanza-oversized': broken('A stanza is far too large', 'Shorten it: a stanza of many megabytes is skipped.'),
  'field-malformed': weak(
    'A line is no field',
    'A field needs a name, a colon and a value on one line; continued lines begin with a blank. This line is ignored.',
  ),
  'field-commented-out': note('A field is commented out', 'Control files know no // comments. Remove the line.'),
  'field-repeated': note('A field is given twice', 'The last one counts. Remove the other.'),
  'continuation-orphaned': note('A continued line has no field', 'A line that begins with a blank continues nothing.'),
  'records-too-many': broken('There are too many packages', 'Split the repository.'),
  'sections-too-many': note('There are hundreds of sections', 'Use a few sections that people know, such as Tweaks.'),
  'release-line-malformed': note('A line of Release is no field', 'Each line needs a name, a colon and a value.'),
  'release-blank-line': weak(
    'Release has a blank line inside',
    'Remove it: strict clients stop reading there and miss the hashes that follow.',
  ),
  'release-field-repeated': note('Release gives a field twice', 'Remove one of them.'),
  'release-hash-malformed': weak(
    'Release has a hash line that cannot be read',
    'Each line needs hash, size and path. Let apt-ftparchive write them.',
  ),
  'release-hash-empty': weak('Release has a hash field without hashes', 'Fill or remove it.'),
  'release-entry-conflict': weak(
    'Release contradicts itself about a file',
    'One file has two sizes or hashes. Write Release anew after each change.',
  ),
  'release-architecture-singular': note('Release says Architecture', 'The field is called Architectures.'),
  'release-payment-gateway-malformed': weak(
    'The payment gateway has no https address',
    'Payment-Gateway must begin with https://.',
  ),
  'release-expired': weak('Release has expired', 'Its Valid-Until lies in the past. Publish a new Release.'),
  'release-in-future': weak('Release comes from the future', 'Its Date has not been reached yet. Check the clock.'),
  'release-date-unreadable': note(
    'The date of Release cannot be read',
    'Write it as "Mon, 01 Jun 2026 10:00:00 UTC" (date -Ru writes that).',
  ),
  'release-encoding-not-utf8': note('Release is not UTF-8', 'Save it as UTF-8.'),
  'release-weak-hashes': weak(
    'Release lists weak hashes only',
    'MD5 and SHA-1 protect nothing any more. Let it list SHA256 too: apt-ftparchive release does.',
  ),
  'release-without-hashes': weak(
    'Release lists no hashes',
    'Without them nobody can tell a whole index from a damaged one, and each check costs a download more. Write Release with apt-ftparchive release.',
  ),
  'encoding-not-utf8': note('A field is not UTF-8', 'Save the control files as UTF-8. It was read as Windows-1252.'),
  'index-not-listed': weak(
    'Release does not list this index',
    'List every compression of Packages in Release, so that it can be verified.',
  ),
  'index-variants-differ': weak(
    'Packages and its compressed copies differ',
    'Compress Packages anew after each change: clients that choose another compression see other packages.',
  ),
  'inrelease-unsigned': weak('InRelease carries no signature', 'Sign it (gpg --clearsign), or publish Release alone.'),
  'signature-unreadable': weak('The signature cannot be read', 'Sign Release anew.'),
  'payment-endpoint-unreadable': note(
    'payment_endpoint is no address',
    'It must hold one https:// address and no more.',
  ),
  'extras-unanswered': note(
    'The server did not answer for small files',
    'Signature and payment endpoint were not found.',
  ),
  redirected: note('The address redirects', 'Name the final address in the list of repositories, and spare a request.'),
  'snapshot-damaged': note('Our copy was damaged', 'It is fetched anew; nothing is to be done.'),
};

// A word of a code, such as "hash" in "packages-hash-mismatch", tells enough about those that have no row above.
const families: readonly (readonly [RegExp, Advice])[] = [
  [/mismatch|differs/, broken('A file does not match its hash', 'Write Release anew after each change of Packages.')],
  [/hash|checksum|md5|sha1/, weak('Hashes are weak or missing', 'List SHA256 hashes of all indexes in Release.')],
  [/sign|gpg|key/, weak('The signature has a problem', 'Sign Release anew and publish InRelease with it.')],
  [/expired|valid-until/, weak('Something has expired', 'Publish a new Release.')],
  [/html|content/, broken('A web page stands where an index should be', 'Serve the index itself at that address.')],
  [/empty|shrunk|shrank/, broken('The index lost most of its packages', 'The last good data stays until it returns.')],
  [/large|bomb|ratio/, broken('A file is too large', 'Keep Release below 10 MB and indexes to a sensible size.')],
  [/slow|timeout|timed-out/, broken('The server is too slow', 'The last good data stays until it answers in time.')],
  [/redirect/, weak('A redirect was refused', 'Redirect at most five times, and never from https to http.')],
  [/encoding|utf/, note('Text is not UTF-8', 'Save the control files as UTF-8.')],
];

/** What a finding means and what its owner can do about it. A code without words of its own is shown as it is. */
export const adviceFor = ({ code }: Pick<Finding, 'code'>): Advice =>
  known[code] ??
  families.find(([pattern]) => pattern.test(code))?.[1] ??
  note(`${code[0]?.toUpperCase() ?? ''}${code.slice(1).replaceAll('-', ' ')}`, 'See the example.');

/** How a repository fares: what its last crawl and its findings come to. */
export type Health = 'good' | 'fair' | 'poor';

/** Poor where the last crawl failed or is stale; fair where a finding keeps packages or updates away from people. */
export const computeHealth = (findings: readonly Finding[], outcome: string | undefined): Health => {
  if (outcome === 'failed' || outcome === 'stale') return 'poor';
  return findings.some((finding) => adviceFor(finding).weight === 'broken') ? 'fair' : 'good';
};
