// Characters after the authority that RFC 3986 does not allow but a WHATWG URL may contain, and a % that begins no
// escape.
const notStrict = /[|\\^`{}[\]<>"]|%(?![0-9a-fA-F]{2})/g;

// The hosts that RFC 3986, section 3.2.2, allows. Hosts of WHATWG URLs may also contain braces and quotation marks.
const strictHost = /^(?:[a-z0-9._~!$&'()*+,;=-]+|\[[0-9a-f:.]+\])$/;

/**
 * Converts `text` to an http or https URL that strict parsers (RFC 3986) accept. Null for anything else, for URLs with
 * credentials, and for those without `//` before the host.
 */
export const webUrl = (text: string | null): string | null => {
  if (text === null || !/^https?:\/\/[^/]/i.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || !strictHost.test(url.hostname)) return null;
  const [tail = '', ...fragment] = url.href.slice(url.origin.length).split('#');
  // A fragment cannot contain another "#".
  const whole = fragment.length === 0 ? tail : `${tail}#${fragment.join('%23')}`;
  return url.origin + whole.replace(notStrict, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
};

const strict =
  /^https?:\/\/(?:[\w.~!$&'()*+,;=-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?$/i;

/** The same, but the text stays as written if a strict parser accepts that. */
export const writtenWebUrl = (text: string): string | null => {
  const url = webUrl(text);
  return url !== null && strict.test(text) ? text : url;
};
