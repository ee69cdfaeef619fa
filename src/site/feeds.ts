import { hash } from 'node:crypto';
import { page } from './addresses.ts';
import { publicAuthor } from './authors.ts';
import { withoutTurns } from './direction.ts';
import type { NewsEntry } from './overview.ts';
import { escapeXml } from './xml.ts';

/** How many entries a feed has at most. */
export const feedLength = 50;

/** A version that is news, and the name of its repository. */
export interface FeedEntry extends NewsEntry {
  readonly place: string;
}

/** The content of a feed. */
export interface Feed {
  /** Public address without trailing slash. */
  readonly base: string;
  readonly title: string;
  /** Root-relative address of the page that the feed belongs to. */
  readonly home: string;
  readonly atom: string;
  /** The address of the same content as a JSON Feed, if there is one. */
  readonly json?: string;
  /** The date of the feed if it is empty. ISO 8601. */
  readonly since: string;
  readonly entries: readonly FeedEntry[];
}

// An entry stands for one version, so that readers show a new version as unread.
const entryId = (feed: Feed, { summary, version }: FeedEntry): string => {
  const digest = hash('sha256', `${summary.id}\n${version}`);
  return `${feed.base}${page.package(summary.id)}#${digest.slice(0, 12)}`;
};

const titleOf = ({ summary, version, isUpdate, place }: FeedEntry): string =>
  withoutTurns(`${summary.name} ${version}, ${isUpdate ? 'updated' : 'new'}, ${place}`);

const authorOf = ({ summary, place }: FeedEntry): string => publicAuthor(summary) || place;

/** A feed in Atom (RFC 4287), of entries that are written already. */
export const wrapAtom = (
  { base, title, home, atom }: Pick<Feed, 'base' | 'title' | 'home' | 'atom'>,
  updated: string,
  entries: readonly string[],
): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">` +
  `<title>${escapeXml(title)}</title><id>${escapeXml(base + home)}</id><updated>${updated}</updated>` +
  `<link href="${escapeXml(base + home)}"/><link rel="self" type="application/atom+xml" href="${escapeXml(base + atom)}"/>` +
  `<icon>${escapeXml(base)}/favicon.svg</icon>\n${entries.join('')}</feed>\n`;

/** The feed in Atom. */
export const composeAtom = (feed: Feed): string => {
  const entries = feed.entries.map((entry) => {
    const { summary, at } = entry;
    return (
      `<entry><title>${escapeXml(titleOf(entry))}</title><id>${escapeXml(entryId(feed, entry))}</id>` +
      `<link href="${escapeXml(feed.base + page.package(summary.id))}"/><updated>${at}</updated>` +
      `<published>${at}</published><author><name>${escapeXml(authorOf(entry))}</name></author>` +
      `<category term="${summary.kind}"/><summary>${escapeXml(summary.summary || summary.id)}</summary></entry>\n`
    );
  });
  return wrapAtom({ ...feed, title: withoutTurns(feed.title) }, feed.entries[0]?.at ?? feed.since, entries);
};

/** The feed as JSON Feed (version 1.1), if it has an address as such. */
export const composeJsonFeed = (feed: Feed & { readonly json: string }): string =>
  `${JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: withoutTurns(feed.title),
    home_page_url: feed.base + feed.home,
    feed_url: feed.base + feed.json,
    icon: `${feed.base}/apple-touch-icon.png`,
    favicon: `${feed.base}/favicon.svg`,
    items: feed.entries.map((entry) => ({
      id: entryId(feed, entry),
      url: feed.base + page.package(entry.summary.id),
      title: titleOf(entry),
      content_text: entry.summary.summary || entry.summary.id,
      date_published: entry.at,
      authors: [{ name: authorOf(entry) }],
      tags: [entry.summary.kind],
    })),
  })}\n`;
