// Content negotiation (RFC 9110, section 12): chooses what the client prefers from what is available.

/** The coding of a body; `identity` means none. */
export type Encoding = 'identity' | 'gzip' | 'br' | 'zstd';

// In our order of preference, for clients that have none, such as browsers: the smallest first. By zstd the scripts and
// pages of the site are up to a tenth larger than by br, and published copies are not used (`src/contract/compressed-paths.ts`).
// That outweighs that answers to questions, which are compressed in a hurry, are as much larger by br at most.
const compressed = ['br', 'zstd', 'gzip'] as const;

interface Weighted {
  readonly value: string;
  readonly quality: number;
}

// No client lists more, but a header may be as long as all headers together.
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
 * Chooses the coding of an answer by the value of Accept-Encoding: the available one that the client prefers, and
 * `identity` if it accepts none of them or did not send the header.
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
    // A coding wins against `identity` of the same quality, because it costs the client less.
    if (quality > 0 && (quality > bestQuality || (best === 'identity' && quality === bestQuality))) {
      best = encoding;
      bestQuality = quality;
    }
  }
  return best;
};

/** Whether an Accept header prefers a page to JSON. A client without preference, like most programs, gets JSON. */
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
 * wildcard names nothing: link previews and command lines send that, and get the site.
 */
export const asksForJson = (header: string | undefined): boolean => {
  const named = new Set(
    parseWeighted(header ?? '')
      .filter(({ quality }) => quality > 0)
      .map(({ value }) => value),
  );
  return named.has('application/json') && !named.has('text/html');
};
