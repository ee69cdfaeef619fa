// What RFC 3986 does not allow after the authority but a WHATWG URL may still hold, and a % that begins no escape.
const notStrict = /[|\\^`{}[\]<>"]|%(?![0-9a-fA-F]{2})/g;

// RFC 3986, section 3.2.2: the hosts it allows. Those of a WHATWG URL may hold braces and quotation marks too.
const strictHost = /^(?:[a-z0-9._~!$&'()*+,;=-]+|\[[0-9a-f:.]+\])$/;

/**
 * The http or https URL that `text` is, written so that strict parsers (RFC 3986) take it too; null for anything else,
 * for URLs with credentials in them, and for those that name no host with `//`.
 */
export const webUrl = (text: string | null): string | null => {
  if (text === null || !/^https?:\/\/[^/]/i.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || !strictHost.test(url.hostname)) return null;
  const [tail = '', ...fragment] = url.href.slice(url.origin.length).split('#');
  // A fragment cannot hold another "#".
  const whole = fragment.length === 0 ? tail : `${tail}#${fragment.join('%23')}`;
  return url.origin + whole.replace(notStrict, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
};

const strict =
  /^https?:\/\/(?:[\w.~!$&'()*+,;=-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?$/i;

/** The same, but the text as it was written where a strict parser takes that. */
export const writtenWebUrl = (text: string): string | null => {
  const url = webUrl(text);
  return url !== null && strict.test(text) ? text : url;
};
