import { hash } from 'node:crypto';
import { page } from './addresses.ts';
import { publicAuthor } from './authors.ts';
import type { NewsEntry } from './overview.ts';
import { escapeXml } from './xml.ts';

/** Entries of a feed. */
export const feedLength = 50;

/** A version that is news, and what its repository is called. */
export interface FeedEntry extends NewsEntry {
  readonly place: string;
}

/** What a feed tells. */
export interface Feed {
  /** Public address without trailing slash. */
  readonly base: string;
  readonly title: string;
  /** Root-relative address of the page that the feed belongs to. */
  readonly home: string;
  readonly atom: string;
  /** That of the same as a JSON Feed, where there is one. */
  readonly json?: string;
  /** When it last had anything to say, should it be empty. ISO 8601. */
  readonly since: string;
  readonly entries: readonly FeedEntry[];
}

// An entry stands for one version: a new version is a new entry, so that readers show it as unread.
const entryId = (feed: Feed, { summary, version }: FeedEntry): string => {
  const digest = hash('sha256', `${summary.id}\n${version}`);
  return `${feed.base}${page.package(summary.id)}#${digest.slice(0, 12)}`;
};

const titleOf = ({ summary, version, isUpdate, place }: FeedEntry): string =>
  `${summary.name} ${version}, ${isUpdate ? 'updated' : 'new'}, ${place}`;

const authorOf = ({ summary, place }: FeedEntry): string => publicAuthor(summary) || place;

/** The feed in Atom (RFC 4287). */
export const composeAtom = (feed: Feed): string => {
  const updated = feed.entries[0]?.at ?? feed.since;
  const entries = feed.entries.map((entry) => {
    const { summary, at } = entry;
    return (
      `<entry><title>${escapeXml(titleOf(entry))}</title><id>${escapeXml(entryId(feed, entry))}</id>` +
      `<link href="${escapeXml(feed.base + page.package(summary.id))}"/><updated>${at}</updated>` +
      `<published>${at}</published><author><name>${escapeXml(authorOf(entry))}</name></author>` +
      `<category term="${summary.kind}"/><summary>${escapeXml(summary.summary || summary.id)}</summary></entry>\n`
    );
  });
  return (
    `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">` +
    `<title>${escapeXml(feed.title)}</title><id>${escapeXml(feed.base + feed.home)}</id><updated>${updated}</updated>` +
    `<link href="${escapeXml(feed.base + feed.home)}"/><link rel="self" type="application/atom+xml" href="${escapeXml(feed.base + feed.atom)}"/>` +
    `<icon>${escapeXml(feed.base)}/favicon.svg</icon>\n${entries.join('')}</feed>\n`
  );
};

/** The feed in JSON Feed (version 1.1), for one that has an address as such. */
export const composeJsonFeed = (feed: Feed & { readonly json: string }): string =>
  `${JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: feed.title,
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
