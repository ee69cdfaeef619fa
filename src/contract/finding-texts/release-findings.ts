import { amountOf } from '../limits.ts';
import { broken, type FindingText, note, weak } from './text-findings.ts';

/** What can be wrong with a Release and the files around it, while the rest stays usable. */
export const releaseTexts = {
  'release-line-malformed': note(
    'A line of Release is not a field',
    'A line of Release was left out, because it is not a field: {}.',
    'Each line of Release needs a name, a colon and a value.',
  ),
  'release-blank-line': weak(
    'Release contains a blank line',
    'Release contains a blank line and was read beyond it: {}.',
    'Remove the blank line: strict clients stop reading there and miss the hashes that follow.',
  ),
  'release-field-repeated': note(
    'Release gives a field twice',
    'Of fields with the same name in Release, the last one counts: {}.',
    'Remove the others.',
  ),
  'signatures-too-many': weak(
    'Release carries too many signatures',
    'Not all signatures of the Release were looked at: {}.',
    `Sign only with keys that are in use: at most ${amountOf('signatures')} signatures of ${amountOf('signatureBytes')} in all are looked at.`,
  ),
  'release-field-oversized': note(
    'A field of Release is far too long',
    `A field of Release was cut to ${amountOf('releaseFieldBytes')} at most: {}.`,
    'Say what the repository is in a sentence or two.',
  ),
  'release-encoding-not-utf8': note(
    'Release is not UTF-8',
    'Text of Release was read as Windows-1252, because it is not UTF-8: {}.',
    'Save Release as UTF-8.',
  ),
  'release-hash-malformed': weak(
    'Release has a hash line that cannot be read',
    'A hash line of Release was left out: {}.',
    'Each line needs hash, size and path. Let apt-ftparchive write them.',
  ),
  'release-hash-empty': weak(
    'Release has a hash field without hashes',
    'A hash field of Release lists nothing: {}.',
    'Fill it or remove it.',
  ),
  'release-entry-conflict': weak(
    'Release contradicts itself about a file',
    'Release lists two sizes or hashes for one file: {}.',
    'Write Release again after each change.',
  ),
  'release-architecture-singular': note(
    'Release has Architecture instead of Architectures',
    'Architecture was read as Architectures: {}.',
    'Call the field Architectures.',
  ),
  'release-payment-gateway-malformed': weak(
    'The payment gateway has no https address',
    'Payment-Gateway was left out: {}.',
    'Let Payment-Gateway be an https:// address.',
  ),
  'release-expired': weak(
    'Release has expired',
    'The Valid-Until of Release lies in the past: {}.',
    'Publish a new Release: APT refuses one that has expired.',
  ),
  'release-in-future': weak(
    'Release comes from the future',
    'The Date of Release has not been reached yet: {}.',
    'Check the clock of the machine that writes Release: APT refuses one that is many hours ahead.',
  ),
  'release-date-unreadable': weak(
    'APT cannot read a date of Release',
    'APT cannot read a date of Release: {}.',
    'Write it as "Mon, 01 Jun 2026 10:00:00 UTC" (date -Ru writes that): APT reads no other time zone than UTC. Of another Date it warns, and may keep the Release from before; a signed repository with another Valid-Until it refuses.',
  ),
  'release-without-hashes': weak(
    'Release lists no hashes',
    'Release lists no hashes, so nothing shows that the index is whole: {}.',
    'List SHA256 hashes of all indexes in Release (apt-ftparchive release writes them).',
  ),
  'release-weak-hashes': weak(
    'Release lists only weak hashes',
    'Release lists only MD5 or SHA-1 for the index: {}.',
    'List SHA256 hashes: APT no longer trusts MD5 and SHA-1.',
  ),
  'index-not-listed': weak(
    'Release does not list the index',
    'Release lists hashes, but none for the index: {}.',
    'Run apt-ftparchive release . in the folder of Release, which is that of the suite in dists/ or, without suites, that of Packages: Release lists the index by its path from there.',
  ),
  'index-gone': broken(
    'An index is no longer served as Release lists it',
    'The Release is unchanged, but the origin no longer serves the index that it lists, in any compression, so the data from before stays: {}.',
    'Let everyone read Packages, also compressed, at the paths that Release lists: publish what is missing (status 404), permit what is refused (401, 403), and look into the log of the web server for its own errors (5xx).',
  ),
  'index-variants-differ': weak(
    'The compressed indexes differ',
    'The content of one compression is not what Release lists: {}.',
    'Compress all of them from the same Packages, then write Release.',
  ),
  'index-several-streams': weak(
    'APT reads only a part of the index',
    'The index is compressed in several streams, of which APT reads only the first: {}.',
    'Compress Packages with xz or bzip2 as a whole: pbzip2, and files that are joined, make several streams.',
  ),
  'inrelease-unsigned': weak(
    'InRelease is not signed',
    'InRelease has no signature and was read as a Release: {}.',
    'Sign InRelease (gpg --clearsign), or publish it as Release: APT refuses an InRelease without a signature.',
  ),
  'inrelease-error': broken(
    'The server fails at InRelease',
    'The origin reports an error of its own instead of InRelease, and Release was read in its place: {}.',
    'Serve InRelease (gpg --clearsign), or answer 404 if there is none: at such an error (as status 500) APT stops and does not ask for Release. The log of the web server has its cause.',
  ),
  'signature-unreadable': weak(
    'Release.gpg is not a signature',
    'Release.gpg holds, alone or beside a signature, something that is none and was ignored: {}.',
    'Create Release.gpg with gpg --detach-sign --armor, with nothing before or after the signature, not even a blank line, or remove the file.',
  ),
  'payment-endpoint-unreadable': weak(
    'The payment endpoint has no https address',
    'The file payment_endpoint holds no https address: {}.',
    'Let the file payment_endpoint hold one https:// address and nothing else.',
  ),
  'extras-unanswered': note(
    'InRelease, the signature, the payment endpoint or the index did not answer',
    'InRelease, the signature, the payment endpoint or an unchanged index could not be fetched; what was known of it before, if anything, stays: {}.',
    'Answer 404 for files that do not exist (InRelease, Release.gpg and payment_endpoint need not). For errors of the web server itself (status 5xx), look into its log.',
  ),
  'depiction-unusable': note(
    'A native depiction cannot be shown',
    'A native depiction was requested, but the answer cannot be shown: {}.',
    'Let the address answer with the JSON of a DepictionTabView, or remove the field. The address is requested again within a week.',
  ),
  redirected: note(
    'A file is redirected',
    'Redirects were followed: {}. If all files have moved to one place for good, name that in the manifest.',
    'Nothing needs to be done. If the repository moved permanently, tell people its new address.',
  ),
  'address-former': note(
    'What is shown comes from the former address',
    'The address in the manifest has changed, and the new one has not answered yet; what is published still comes from {}.',
    'Serve the repository at the new address: what is shown comes from there as soon as it answers.',
  ),
  'snapshot-damaged': note(
    'What was kept of the repository was damaged',
    'The stored snapshot was damaged, and the repository was fetched again: {}. Check the disk.',
    'Nothing needs to be done: the fault was ours.',
  ),
} as const satisfies Record<string, FindingText>;
