import { gatewayWords } from '../src/contract/gateway-schemas.ts';
import { laterRoot, olderTable } from '../src/contract/older-addresses/operations.ts';
import { apiRoot, operations } from '../src/contract/paths.ts';
import { page } from '../src/site/addresses.ts';
import { UsageError } from './options.ts';

const firstSegment = (path: string): string => path.split('/')[1] ?? '';

// Names at the top of a publication. Below a path with such a name requests would be ambiguous.
const ownNames: ReadonlySet<string> = new Set([
  apiRoot,
  ...Object.values(operations).map(({ address }) => firstSegment(address)),
  ...olderTable.map(([, { address }]) => firstSegment(address)),
  ...laterRoot.slice(0, 1),
  ...gatewayWords,
  ...Object.values(page).map((address) => (typeof address === 'string' ? firstSegment(address) : '')),
  ...['assets', 'badge', 'icons', 'package', 'search-index', 'sample', 'sitemap'],
]);

const plainPath = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*\/*$/;

/** The public address of `--base-url`, without trailing slash. Throws a UsageError if it is invalid. */
export const readBase = (text: string): string => {
  const url = URL.parse(text);
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `--base-url must be an http or https address such as https://index.example.org, not "${text}"`,
    );
  }
  if (!plainPath.test(url.pathname)) {
    throw new UsageError(
      `--base-url: its path must be of letters, digits, ".", "_", "~" and "-", as in https://example.org/debdex, not "${text}"`,
    );
  }
  const first = firstSegment(url.pathname);
  if (first !== '' && ownNames.has(first)) {
    throw new UsageError(`--base-url: "/${first}" is a name of what is published; take another path, such as /debdex`);
  }
  return url.href.replace(/\/+$/, '');
};
