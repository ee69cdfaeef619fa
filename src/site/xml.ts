// Characters that XML 1.0 forbids (section 2.2) vanish; the rest of a stranger's text is escaped.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Text as XML character data or attribute value. */
export const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(forbidden, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
