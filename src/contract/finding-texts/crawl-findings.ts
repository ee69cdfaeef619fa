import { amountOf } from '../limits.ts';
import { broken, type FindingText, note, weak } from './text-findings.ts';

/** Why nothing new could be taken from an origin. */
export const crawlTexts = {
  'origin-busy': broken(
    'The server asked for a pause',
    'The origin asked for a pause: {}.',
    'If crawlers are answered 429 or 503 by mistake, raise the limit: an unchanged repository costs one request.',
  ),
  'server-error': broken(
    'The server reports an error',
    'The origin reports an error of its own: {}.',
    'Look into the log of the web server.',
  ),
  'budget-exceeded': broken(
    'The repository takes too long',
    'The repository took longer than one repository may: {}.',
    'Serve static files, the index compressed, so that all of it arrives within three minutes.',
  ),
  'backing-off': note(
    'The server is left alone for now',
    'Not asked, because it failed before: {}.',
    'Nothing needs to be done beyond mending the failure before: the index asks again by itself.',
  ),
  'release-missing': broken(
    'There is no Release',
    'The origin has neither InRelease nor Release: {}. Check address and suite in the manifest.',
    'Publish a Release beside the index (apt-ftparchive release writes one).',
  ),
  'release-forbidden': broken(
    'Release is not given out',
    'The origin refuses to give its Release: {}.',
    'Let everyone read Release, InRelease and Packages, crawlers included.',
  ),
  'release-html': broken(
    'A web page stands where Release should be',
    'The origin answers with a web page where its Release should be: {}.',
    'Answer 404 for files that do not exist, not a web page with status 200; serve Release itself at its address.',
  ),
  'release-empty': broken('Release is empty', 'The Release of the origin is empty: {}.', 'Write Release anew.'),
  'release-unreadable': broken(
    'Release cannot be read',
    'The Release of the origin holds no Release: {}.',
    'Let apt-ftparchive write Release, and let nothing stand before or after the signed text of InRelease.',
  ),
  'release-length-unknown': broken(
    'Release may be cut short',
    'The Release may have been cut short, for the origin does not say how long it is: {}.',
    'Send a Content-Length with static files.',
  ),
  'release-older': broken(
    'Release went back in time',
    'The Release is older than the last one accepted, so the data from before stays: {}. Accept it if that is meant.',
    'Write Release anew with the present Date; if a mirror or cache answers, let it take in the present files.',
  ),
  'signature-missing': broken(
    'Release is not signed',
    'The Release is not signed, though the manifest names a key: {}.',
    'Sign Release and publish InRelease or Release.gpg.',
  ),
  'signature-unanswered': broken(
    'The signature cannot be fetched',
    'The origin did not say whether its Release is signed, and the manifest names a key: {}.',
    'Serve Release.gpg, or InRelease in its place.',
  ),
  'signature-lost': weak(
    'Release is signed no longer',
    'The Release is no longer signed: {}. Accept it if that is meant.',
    'Sign Release again with the key from before; clients that know it refuse an unsigned one.',
  ),
  'signature-bad': weak(
    'The signature does not fit',
    'The signature of the Release does not fit it: {}.',
    'Sign Release anew after every change; APT refuses the repository as it is.',
  ),
  'signature-weak': weak(
    'The signature proves nothing',
    'The signature of the Release uses methods that prove nothing any more: {}.',
    'Sign with SHA-256 or SHA-512 and a key of at least 2048 bits (RSA) or Ed25519.',
  ),
  'signature-binary': weak(
    'The signature is not armoured',
    'Release.gpg is a binary signature, and APT takes none but armoured ones: {}.',
    'Write it with gpg --detach-sign --armor.',
  ),
  'signature-key-changed': weak(
    'Release is signed by another key',
    'The Release is signed by another key than the one that is known for it: {}. If that is meant, accept it; where the manifest names a key, name the new one there.',
    'Sign with the key from before; to change keys, sign with both for a while and tell people the new fingerprint.',
  ),
  'signature-key-expired': weak(
    'The signing key has expired',
    'The key that signed the Release has expired, as the manifest has it: {}. If its owner has prolonged it, renew the copy in the manifest (`key`).',
    'Prolong the key (gpg --quick-set-expire) and publish it again.',
  ),
  'signature-key-revoked': weak(
    'The signing key was revoked',
    'The key that signed the Release was revoked: {}.',
    'Sign with a new key and tell people its fingerprint.',
  ),
  'signature-expired': weak(
    'The signature has expired',
    'The signature of the Release has expired: {}.',
    'Sign Release anew, without an end to the signature.',
  ),
  'index-missing': broken(
    'There is no Packages index',
    'The origin does not have its Packages index: {}. Check suite, component and architecture in the manifest.',
    'Publish Packages, compressed too, where Release says it is.',
  ),
  'index-forbidden': broken(
    'The Packages index is not given out',
    'The origin refuses to give its Packages index: {}.',
    'Let everyone read Packages, crawlers included.',
  ),
  'index-html': broken(
    'A web page stands where the index should be',
    'The origin answers with a web page where its Packages index should be: {}.',
    'Answer 404 for files that do not exist, not a web page with status 200; serve the index itself at its address.',
  ),
  'index-empty': broken(
    'The Packages index is empty',
    'The Packages index is empty and no hash in Release says that it should be: {}.',
    'Write Packages anew; if it is meant to be empty, list its hash in Release.',
  ),
  'index-wrong-compression': broken(
    'The index is not compressed as its name says',
    'The Packages index is not compressed as its name says: {}.',
    'Compress Packages.gz with gzip, Packages.bz2 with bzip2, Packages.xz with xz and Packages.zst with zstd.',
  ),
  'index-truncated': broken(
    'The index ends in the middle',
    'The Packages index ends in the middle: {}.',
    'Upload the index again, whole, and replace files by renaming so that nobody gets a half of one.',
  ),
  'index-corrupt': broken(
    'The index cannot be decompressed',
    'The Packages index cannot be decompressed: {}.',
    'Compress it again; a file uploaded in text mode is often the cause.',
  ),
  'index-bomb': broken(
    'The index decompresses to too much',
    'The Packages index decompresses to more than any repository needs: {}.',
    `Check what was compressed: an index has at most ${amountOf('textBytes')}, and no more than ${amountOf('ratio')}.`,
  ),
  'index-trailing-garbage': broken(
    'Something follows the index',
    'Something that does not belong to it follows the Packages index: {}.',
    'Compress it again, and let no script or server add to it.',
  ),
  'index-too-large': broken(
    'The index is too large',
    'The Packages index is larger than allowed: {}.',
    `Compress the index; ${amountOf('indexBytes')} are taken at most.`,
  ),
  'index-unreadable': broken(
    'The index names no package',
    'The Packages index names no package: {}.',
    'Let dpkg-scanpackages or apt-ftparchive write Packages.',
  ),
  'index-length-unknown': broken(
    'The index may be cut short',
    'The Packages index may have been cut short, and no hash in Release shows that it is whole: {}.',
    'Send a Content-Length with static files, or list hashes in Release.',
  ),
  'index-encoded': broken(
    'The index is compressed for the transfer',
    'The origin compresses the Packages index for the transfer though it was asked not to: {}.',
    'Take compressed indexes out of what the web server or CDN compresses.',
  ),
  'index-mismatch': broken(
    'The index is not the one that Release describes',
    'The Packages index is not the one that Release describes: {}.',
    'Write Release anew after each change of Packages, and let caches take both in together.',
  ),
  'index-unverified': broken(
    'The signature does not reach the index',
    'The manifest names a key, and no SHA-256 or SHA-512 in the signed Release confirms the index: {}.',
    'List the SHA256 of every index in Release, then sign it: APT refuses what the signature does not reach.',
  ),
  'index-shrunken': broken(
    'More than half of the packages are gone',
    'More than half of the packages are gone, so the data from before stays: {}. Accept it if that is meant.',
    'If packages were removed on purpose, tell the operator of the index; otherwise write Packages anew.',
  ),
  'store-failed': broken(
    'The index could not keep what it fetched',
    'The snapshot could not be read or written: {}. Check the disk.',
    'Nothing needs to be done: the fault is ours.',
  ),
  internal: broken(
    'The crawler failed',
    'The crawler itself failed: {}.',
    'Nothing needs to be done: the fault is ours.',
  ),
} as const satisfies Record<string, FindingText>;
