// What RFC 3986 does not allow after the authority but a WHATWG URL may still hold, and a % that begins no escape.
const notStrict = /[|\\^`{}[\]<>"]|%(?![0-9a-fA-F]{2})/g;

/**
 * The http or https URL that `text` is, written so that strict parsers (RFC 3986) take it too; null for anything else,
 * for URLs with credentials in them, and for those that name no host with `//`.
 */
export function webUrl(text: string | null): string | null {
  if (text === null || !/^https?:\/\/[^/]/i.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return null;
  const tail = url.href.slice(url.origin.length);
  return url.origin + tail.replace(notStrict, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
}
