import { amountOf, limits } from '../limits.ts';
import { broken, type FindingText, note, weak } from './text-findings.ts';

const leftOut = 'Such packages are left out here.';
const refused = 'refuses every list of a device, so that nothing can be installed there';

/** What can be wrong with the stanzas of an index. */
export const packageTexts = {
  'package-missing': broken(
    'A stanza has no Package field',
    'A stanza without Package was left out: {}.',
    `Add the identifier. While a stanza has none, APT ${refused}.`,
  ),
  'package-malformed': broken(
    'A Package field is not an identifier',
    `A stanza whose Package holds control characters or more than ${limits.identifierCharacters} bytes was left out: {}.`,
    `Take out control characters and line breaks, and shorten it. ${leftOut}`,
  ),
  'version-missing': broken(
    'A package has no version',
    'A stanza without Version was left out: {}.',
    'Add a Version field. Such packages are left out here and ignored by APT.',
  ),
  'version-unreadable': broken(
    'A version cannot be read',
    `A stanza whose Version holds control characters or more than ${amountOf('identifierCharacters')} was left out: {}.`,
    `Take out control characters and line breaks, and shorten it. ${leftOut}`,
  ),
  'version-malformed': weak(
    'A version is not a Debian version',
    'A version that dpkg would refuse was kept as written: {}.',
    'Begin it with a digit, use only letters, digits and . + ~ - (and a colon after an epoch, as in 1:2.0), and end it with something other than - so that every package manager orders it alike.',
  ),
  'architecture-missing': broken(
    'A package has no architecture',
    'A stanza without Architecture was left out: {}.',
    `Add an Architecture field. ${leftOut}`,
  ),
  'architecture-malformed': broken(
    'An architecture is malformed',
    `A stanza whose Architecture holds control characters or more than ${amountOf('identifierCharacters')} was left out: {}.`,
    `Name one architecture, such as iphoneos-arm64. ${leftOut}`,
  ),
  'filename-missing': broken(
    'A package has no file',
    'A stanza without Filename was left out: {}.',
    `Add a Filename field: without it nothing can be downloaded. ${leftOut}`,
  ),
  'filename-malformed': broken(
    'A Filename is malformed',
    `A stanza whose Filename holds control characters or more than ${amountOf('lineCharacters')} was left out: {}.`,
    `Take out control characters and line breaks, and shorten it. ${leftOut}`,
  ),
  'size-missing': note(
    'A package does not state its size',
    'A package without Size is listed with 0 bytes: {}.',
    'Add a Size field, so that downloads can be checked. Scanning tools write it by themselves.',
  ),
  'size-malformed': note(
    'A size is not a number',
    'A package whose Size is no number is listed with 0 bytes: {}.',
    'Write Size in bytes, with digits only.',
  ),
  'installed-size-malformed': note(
    'An installed size is not a number',
    'An Installed-Size that is no number was left out: {}.',
    'Write Installed-Size in kibibytes, with digits only.',
  ),
  'sha256-malformed': weak(
    'A SHA256 is malformed',
    'A SHA256 that is not valid was left out: {}.',
    'Write 64 hexadecimal digits, so that downloads can be verified.',
  ),
  'icon-malformed': note(
    'An icon has no web address',
    'An Icon that is no web address was left out: {}.',
    'Give Icon an https:// address. Paths such as file:///… exist only on devices where the package is installed.',
  ),
  'header-malformed': note(
    'A header image has no web address',
    'A Header that is no web address was left out: {}.',
    'Give Header an https:// address.',
  ),
  'native-depiction-malformed': note(
    'A native depiction has no web address',
    'A native depiction that is no web address was left out: {}.',
    'Give SileoDepiction, and Native-Depiction if it is there, an https:// address of a JSON document.',
  ),
  'relation-malformed': broken(
    'APT cannot read what a package needs',
    'A field such as Depends was kept, though APT refuses every list while one of its sources has that: {}.',
    `Separate relations with single commas and put versions in brackets, as in "a, b (>= 1.0)". Until then, APT ${refused}.`,
  ),
  'field-malformed': weak(
    'A line is not a field',
    'A line of the index that is not a field was left out: {}.',
    `A field needs a name, a colon and a value on one line; continuation lines begin with a blank. With such a line APT loses the field below it; where it stands alone between blank lines, APT ${refused}.`,
  ),
  'field-commented-out': note(
    'A line is commented out',
    'A line that begins with // or # was left out: {}.',
    'An index knows no comments. Remove the line: if it has no colon, APT loses the field below it.',
  ),
  'field-repeated': note(
    'A field is given twice',
    'Of fields with the same name in a stanza, the last one counts: {}.',
    'Remove the others.',
  ),
  'continuation-orphaned': note(
    'A continuation line has no field',
    'A continuation line without a field above it was left out: {}.',
    'Begin a line with a blank only where it continues the field above.',
  ),
  'encoding-not-utf8': note(
    'Text is not UTF-8',
    'Text of the index was read as Windows-1252, because it is not UTF-8: {}.',
    'Save the control files as UTF-8.',
  ),
  'stanza-oversized': broken(
    'A stanza is far too large',
    'A stanza that is far too large was left out ({}).',
    'Shorten it; long texts belong in the depiction.',
  ),
  'stanza-empty': broken(
    'The index has something that is no package',
    'Something in the index that has no field was left out, though APT takes it for a package or the beginning of one: {}.',
    `Remove it. While it is there, APT ${refused}.`,
  ),
  'stanza-duplicate': weak(
    'The same package appears twice',
    'Of stanzas with the same package, version and architecture, the last one counts: {}.',
    'Remove the others, or raise the version.',
  ),
  'records-too-many': broken(
    'There are too many packages',
    'Packages beyond the limit for one repository were left out ({}).',
    `Split the repository: ${amountOf('recordsPerRepository')} are accepted.`,
  ),
  'versions-too-many': broken(
    'A package has too many versions',
    'Versions beyond the limit for one package were left out, the oldest first ({}).',
    `Remove old versions from the index: ${amountOf('recordsPerPackage')} of a package are accepted, all architectures together.`,
  ),
  'field-oversized': weak(
    'A field is far too long',
    'A field that is far too long was left out ({}).',
    `Shorten the field: a name or address may have ${amountOf('lineCharacters')}, a text or list ${amountOf('fieldCharacters')}, Provides ${amountOf('providesCharacters')}.`,
  ),
  'record-oversized': broken(
    'A package has too much text',
    'A package whose record would be far too long was left out ({}).',
    'Shorten the description and lists of the package; long texts belong in the depiction.',
  ),
  'publication-too-large': broken(
    'The repository is too large to publish',
    'Packages beyond what may be published of one repository were left out ({}).',
    'Shorten descriptions, remove old versions from the index, or split the repository.',
  ),
  'provides-too-many': weak(
    'Packages provide too many names',
    'Provided names beyond the limit do not count for dependencies ({}).',
    `Provide only names that others depend on: a package may provide ${amountOf('providesPerPackage')}, a repository ${amountOf('providesPerRepository')}.`,
  ),
  'sections-too-many': note(
    'There are hundreds of sections',
    'Sections beyond the limit for one repository are not listed ({}).',
    'Use a few sections that people know, such as Tweaks.',
  ),
} as const satisfies Record<string, FindingText>;
