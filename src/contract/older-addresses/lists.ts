import type { ManifestEntry } from '../manifest.ts';
import type { SafetyEntry } from '../safety.ts';
import type { IndexRepository } from './records.ts';

const bySlug = (one: { slug: string }, other: { slug: string }): number =>
  one.slug < other.slug ? -1 : Number(one.slug > other.slug);

/**
 * The manifest in the form of `index-repositories.json`: sorted by slug, keys in order, addresses without a trailing
 * slash.
 */
export const composeIndexRepositories = (entries: readonly ManifestEntry[]): IndexRepository[] =>
  entries.toSorted(bySlug).map(({ aliases, binary, bootstrap, component, ranking, slug, suite, uri }) => ({
    ...(aliases.length === 0 ? {} : { aliases: aliases.toSorted() }),
    ...(binary === undefined ? {} : { binary }),
    bootstrap,
    ...(component === undefined ? {} : { component }),
    ranking,
    slug,
    suite,
    uri: uri.replace(/\/+$/, ''),
  }));

// As a program has it that compares the host of an address: parsed, so that letters beyond ASCII are in their "xn--"
// form, and without the dot that may end a name.
const asParsed = (host: string): string =>
  (URL.parse(`https://${host}`)?.hostname ?? host.toLowerCase()).replace(/\.$/, '');

/**
 * The safety list in the form of `piracy-repositories.json`: host names, each once, sorted. An entry that covers only a
 * path is left out, because readers of this list take the whole host for unsafe.
 */
export const composeUnsafeHosts = (entries: readonly SafetyEntry[]): string[] =>
  [...new Set(entries.filter(({ path }) => path === undefined).map(({ host }) => asParsed(host)))].sort();
