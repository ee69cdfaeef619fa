// No host name is longer, and of a longer address the end says nothing of where it leads.
const longestAddress = 300;
// As many as the files of which one visit may tell a redirect.
const mostPlaces = 16;

/** The evidence of the finding `redirected`. */
export const sayRedirect = (asked: URL, reached: URL): string =>
  `${asked.href.slice(0, longestAddress)} to ${reached.href.slice(0, longestAddress)}`;

// Addresses have no blanks.
const splitRedirects = (evidence: string): string[] => evidence.split(' and ');
const targetOf = (redirect: string): string | undefined => redirect.split(' to ')[1];

/** What a redirect leads to besides the file itself: its host and, if the rest of the path stayed, the folder. */
const placeOf = (redirect: string): string | undefined => {
  const [asked, reached] = redirect.split(' to ').map((address) => URL.parse(address));
  if (!asked || !reached) return undefined;
  const [from, to] = [asked.pathname.split('/'), reached.pathname.split('/')];
  if (from.at(-1) !== to.at(-1)) return reached.host;
  while (to.length > 0 && to.at(-1) === from.pop()) to.pop();
  return reached.host + to.join('/');
};

/** The evidence of the finding `redirected` for these two, with one redirect to each place. */
export const joinRedirects = (known: string, more: string): string => {
  const redirects = new Map<string | undefined, string>();
  for (const one of [...splitRedirects(known), ...splitRedirects(more)])
    if (!redirects.has(placeOf(one))) redirects.set(placeOf(one), one);
  return [...redirects.values()].slice(0, mostPlaces).join(' and ');
};

/** Where files of a repository were redirected to, by its findings: an address of each place. */
export const readRedirectTargets = (
  findings: readonly { readonly code: string; readonly example: string }[],
): readonly string[] =>
  findings
    .filter(({ code }) => code === 'redirected')
    .flatMap(({ example }) => splitRedirects(example).flatMap((redirect) => targetOf(redirect) ?? []));
