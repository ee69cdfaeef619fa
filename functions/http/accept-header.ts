// Content negotiation (RFC 9110, section 12): what the client prefers of what there is.

/** A coding of a body on its way; `identity` is none. */
export type Encoding = 'identity' | 'gzip' | 'br' | 'zstd';

// In the order of our own preference, where the client has none: the cheapest to read first.
const compressed = ['zstd', 'br', 'gzip'] as const;

interface Weighted {
  readonly value: string;
  readonly quality: number;
}

// No client names more, and a header may be as long as all headers together.
const mostWishes = 64;
const longestWish = 256;

const parseWeighted = (header: string): Weighted[] =>
  header.split(',', mostWishes).map((part) => {
    const [value = '', ...parameters] = part.slice(0, longestWish).split(';');
    const weight = parameters.map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean);
    const quality = weight === undefined ? 1 : Number(weight);
    return { value: value.trim().toLowerCase(), quality: quality >= 0 && quality <= 1 ? quality : 0 };
  });

/**
 * The coding to answer in, for the value of Accept-Encoding: the client's favourite among those there are, and
 * `identity` where it wants none of them or did not say.
 */
export const chooseEncoding = (header: string | undefined): Encoding => {
  if (header === undefined || header === '') return 'identity';
  const wishes = parseWeighted(header);
  const qualityOf = (name: string) => wishes.find(({ value }) => value === name || value === `x-${name}`)?.quality;
  const wildcard = qualityOf('*') ?? 0;
  let best: Encoding = 'identity';
  let bestQuality = qualityOf('identity') ?? 0;
  for (const encoding of compressed) {
    const quality = qualityOf(encoding) ?? wildcard;
    // A coding as welcome as none is taken: it costs the client less.
    if (quality > 0 && (quality > bestQuality || (best === 'identity' && quality === bestQuality))) {
      best = encoding;
      bestQuality = quality;
    }
  }
  return best;
};

/** Whether an Accept header prefers a page to JSON. Who does not care (as most programs) gets JSON. */
export const prefersHtml = (header: string | undefined): boolean => {
  if (header === undefined) return false;
  const wishes = parseWeighted(header);
  const qualityOf = (...ranges: string[]) =>
    ranges
      .map((range) => wishes.find(({ value }) => value === range)?.quality)
      .find((quality) => quality !== undefined);
  const html = qualityOf('text/html', 'text/*', '*/*') ?? 0;
  return html > (qualityOf('application/json', 'application/*', '*/*') ?? 0);
};

/**
 * Whether an Accept header names JSON and no page, so that even the root answers as the API (decisions, section 7). A
 * wildcard names nothing: link previews and command lines ask so, and are shown the site.
 */
export const asksForJson = (header: string | undefined): boolean => {
  const named = new Set(
    parseWeighted(header ?? '')
      .filter(({ quality }) => quality > 0)
      .map(({ value }) => value),
  );
  return named.has('application/json') && !named.has('text/html');
};
