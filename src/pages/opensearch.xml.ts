import { page } from '../site/addresses.ts';
import { site } from '../site/context.ts';
import { escapeXml } from '../site/xml.ts';

// The longest names that the format allows (OpenSearch 1.1, draft 6), in characters.
const [longestShort, longestLong] = [16, 48];
const cut = (text: string, length: number): string => escapeXml([...text].slice(0, length).join('').trim());

export const GET = () => {
  const { service } = site();
  const base = escapeXml(site().base);
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">` +
      `<ShortName>${cut(service.name, longestShort)}</ShortName><LongName>${cut(service.name, longestLong)}</LongName><Description>Search packages of APT repositories</Description><InputEncoding>UTF-8</InputEncoding>` +
      `<Image width="32" height="32" type="image/x-icon">${base}/favicon.ico</Image>` +
      `<Url type="text/html" template="${base}${page.search}?q={searchTerms}"/></OpenSearchDescription>\n`,
    { headers: { 'content-type': 'application/opensearchdescription+xml; charset=utf-8' } },
  );
};
