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
    'Check the log of the web server.',
  ),
  'budget-exceeded': broken(
    'The repository takes too long',
    'The repository took longer than one repository may: {}.',
    'Serve static files, the index compressed, so that all of it arrives within three minutes.',
  ),
  'backing-off': note(
    'The server is left alone for now',
    'Not asked, because it failed before: {}.',
    'Mend the earlier failure; nothing else needs to be done. The index asks again by itself.',
  ),
  'release-missing': broken(
    'There is no Release',
    'The origin has neither InRelease nor Release: {}. Check address and suite in the manifest.',
    'Publish a Release in the folder of the suite in dists/ or, without suites, beside Packages (apt-ftparchive release writes one).',
  ),
  'release-forbidden': broken(
    'Access to Release is refused',
    'The origin refuses to give its Release: {}.',
    'Let everyone read Release, InRelease and Packages, crawlers included.',
  ),
  'release-html': broken(
    'A web page stands where Release should be',
    'The origin answers with a web page where its Release should be: {}.',
    'Answer 404 for files that do not exist, not a web page with status 200; serve Release itself at its address.',
  ),
  'release-empty': broken('Release is empty', 'The Release of the origin is empty: {}.', 'Write Release again.'),
  'release-unreadable': broken(
    'Release cannot be read',
    'What the origin serves as its Release is not a Release: {}.',
    'Let apt-ftparchive write Release, and let nothing stand before or after the signed text of InRelease, not even a blank line. If it comes compressed, exempt it from the compression of the web server or CDN.',
  ),
  'release-length-unknown': broken(
    'Release may be cut short',
    'The Release may have been cut short, because the origin does not state its length: {}.',
    'Send a Content-Length with static files.',
  ),
  'release-older': broken(
    'Release went back in time',
    'The Release is older than the last one accepted, so the data from before stays: {}. Accept it if this is intended.',
    'Write Release again with the current Date. If a mirror or cache answers, update it to the current files.',
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
    'Release is no longer signed',
    'The Release is no longer signed: {}. Accept it if this is intended.',
    'Sign Release again with the previous key: clients that know the key refuse an unsigned Release.',
  ),
  'signature-bad': weak(
    'The signature does not match',
    'The signature of the Release does not match it: {}.',
    'Sign Release again after every change: until then APT refuses the repository.',
  ),
  'signature-weak': weak(
    'The signature is too weak',
    'The signature of the Release uses methods that are no longer secure: {}.',
    'Sign with SHA-256 or SHA-512 and a key of at least 2048 bits (RSA) or Ed25519.',
  ),
  'signature-binary': weak(
    'The signature is not armoured',
    'Release.gpg is a binary signature, and APT accepts only armoured ones: {}.',
    'Create Release.gpg with gpg --detach-sign --armor.',
  ),
  'signature-key-changed': weak(
    'Release is signed by a different key',
    'The Release is signed by a key other than the one known for it: {}. If this is intended, accept it; if the manifest names a key, name the new one there.',
    'Sign with the previous key. To change keys, sign with both for a while and tell people the new fingerprint.',
  ),
  'signature-key-expired': weak(
    'The signing key has expired',
    'According to the manifest, the key that signed the Release has expired: {}. If its owner has extended it, renew the copy in the manifest (`key`).',
    'Extend the key (gpg --quick-set-expire) and publish it again.',
  ),
  'signature-key-revoked': weak(
    'The signing key was revoked',
    'The key that signed the Release was revoked: {}.',
    'Sign with a new key and tell people its fingerprint.',
  ),
  'signature-expired': weak(
    'The signature has expired',
    'The signature of the Release has expired: {}.',
    'Sign Release again, without an expiry date for the signature.',
  ),
  'index-missing': broken(
    'There is no Packages index',
    'The origin does not have its Packages index: {}. Check suite, component and architecture in the manifest.',
    'Publish Packages, also compressed, at the paths that Release lists.',
  ),
  'index-forbidden': broken(
    'Access to the Packages index is refused',
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
    'The Packages index is empty and no hash in Release says that its text should be: {}.',
    'Write Packages again; if it is meant to be empty, list the hash of Packages itself, not compressed, in Release.',
  ),
  'index-wrong-compression': broken(
    'The index is not compressed as its name says',
    'The Packages index is not compressed as its name says: {}.',
    'Compress Packages.gz with gzip, Packages.bz2 with bzip2, Packages.xz with xz and Packages.zst with zstd.',
  ),
  'index-truncated': broken(
    'The index ends in the middle',
    'The Packages index ends in the middle: {}.',
    'Upload the whole index again, and replace files by renaming, so that nobody gets half a file.',
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
    'Extra data follows the index',
    'Data that does not belong to the Packages index follows it: {}.',
    'Compress the index again, and let no script or server append anything to it.',
  ),
  'index-too-large': broken(
    'The index is too large',
    'The Packages index is larger than allowed: {}.',
    `Compress the index; ${amountOf('indexBytes')} are accepted at most.`,
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
    'The index is compressed for transfer',
    'The origin compresses the Packages index for transfer, though it was asked not to: {}.',
    'Exempt compressed indexes from the compression of the web server or CDN.',
  ),
  'index-mismatch': broken(
    'The index is not the one that Release describes',
    'The Packages index is not the one that Release describes: {}.',
    'Write Release again after each change of Packages, and let caches update both together.',
  ),
  'index-unverified': broken(
    'The signature does not cover the index',
    'The manifest names a key, but no SHA-256 or SHA-512 in the signed Release confirms the index: {}.',
    'List the SHA256 of every index in Release, then sign Release: APT refuses what the signature does not cover.',
  ),
  'index-shrunken': broken(
    'More than half of the stanzas are gone',
    'More than half of the stanzas of the index are gone, so the data from before stays: {}. Accept it if this is intended.',
    'If packages or versions were removed on purpose, tell the operator of the index; otherwise write Packages again.',
  ),
  'store-failed': broken(
    'The index could not keep what it fetched',
    'The snapshot could not be read or written: {}. Check the disk of the state folder, its owner and the limit of open files.',
    'Nothing needs to be done: the fault is ours.',
  ),
  internal: broken(
    'The crawler failed',
    'The crawler itself failed: {}.',
    'Nothing needs to be done: the fault is ours.',
  ),
} as const satisfies Record<string, FindingText>;
