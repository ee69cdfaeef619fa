import { hash } from 'node:crypto';
import { page } from './addresses.ts';
import { site } from './context.ts';
import { withoutTurns } from './direction.ts';
import { divergenceText, divergenceTitle, recentDivergences, type ShownDivergence } from './divergences.ts';
import { feedLength, wrapAtom } from './feeds.ts';
import { escapeXml } from './xml.ts';

/** The page for an entry: that of its package if there is only one, else the list of all. */
const pageOf = ({ builds, count }: ShownDivergence): string =>
  count === 1 && builds[0] !== undefined ? page.package(builds[0].name) : page.divergence;

// Depends on who and when, not on what: if a part of it is fixed, no reader should show the rest as news.
const anchorOf = ({ repositories, at }: ShownDivergence): string =>
  hash('sha256', JSON.stringify([repositories.map(({ slug }) => slug), at])).slice(0, 12);

/**
 * The latest divergences as an Atom feed (RFC 4287): an entry for each pair of repositories and time, however many
 * packages.
 */
export const divergenceFeedResponse = (): Response => {
  const { catalog, base, service, figures } = site();
  const events = recentDivergences(catalog, feedLength);
  const entries = events.map((event) => {
    const title = escapeXml(withoutTurns(divergenceTitle(event)));
    const id = escapeXml(`${base}${page.divergence}#${anchorOf(event)}`);
    return (
      `<entry><title>${title}</title><id>${id}</id><link href="${escapeXml(base + pageOf(event))}"/>` +
      `<updated>${event.at}</updated><published>${event.at}</published>` +
      `<author><name>${escapeXml(service.name)}</name></author>` +
      `<category term="${event.repositories.length === 2 ? 'diverges' : 'changed'}"/>` +
      `<summary>${escapeXml(withoutTurns(divergenceText(event)))}</summary></entry>\n`
    );
  });
  const updated = events[0]?.at ?? figures.changedAt ?? '1970-01-01T00:00:00.000Z';
  const title = `${service.name}: same version, other bytes`;
  const text = wrapAtom({ base, title, home: page.divergence, atom: page.divergenceFeed }, updated, entries);
  return new Response(text, { headers: { 'content-type': 'application/atom+xml; charset=utf-8' } });
};
