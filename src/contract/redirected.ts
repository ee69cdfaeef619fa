// With a host of 253 characters and a path of 4,096. A longer path counts as any of its host (src/safety), so the safety
// list says the same of what is kept as of the whole.
const longestKept = 4400;
const longestShown = 300;
// A visit asks for fewer files: Release, those beside it, and two indexes under all their names.
const mostRedirects = 32;

/** The evidence of the finding `redirected`. */
export const sayRedirect = (asked: URL, reached: URL): string =>
  `${asked.href.slice(0, longestShown)} to ${reached.href.slice(0, longestKept)}`;

// Addresses have no blanks.
const splitRedirects = (evidence: string): string[] => evidence.split(' and ');
const targetOf = (redirect: string): string | undefined => redirect.split(' to ')[1];

const foldersOf = ({ pathname }: URL): string[] => pathname.split('/').slice(0, -1);

/** Where a redirect leads to, whatever the file is called there: its host, and of its folder what is not as it was. */
const placeOf = (redirect: string): string | undefined => {
  const [asked, reached] = redirect.split(' to ').map((address) => URL.parse(address));
  if (!asked || !reached) return undefined;
  const [from, to] = [foldersOf(asked), foldersOf(reached)];
  while (to.length > 0 && to.at(-1) === from.pop()) to.pop();
  return reached.host + to.join('/');
};

/** The first redirect of each kind. */
const firstOf = (redirects: readonly string[], kindOf: (redirect: string) => string | undefined): string[] => {
  const first = new Map<string | undefined, string>();
  for (const one of redirects) if (!first.has(kindOf(one))) first.set(kindOf(one), one);
  return [...first.values()];
};

/**
 * The evidence of the finding `redirected` for these two, with one redirect to each address: the safety list may name a
 * folder of what has moved as a whole, by any reading of its path.
 */
export const joinRedirects = (known: string, more: string): string =>
  firstOf([...splitRedirects(known), ...splitRedirects(more)], targetOf)
    .slice(0, mostRedirects)
    .join(' and ');

/** That evidence as it is shown: one redirect to each place, and of a long address the beginning. */
export const shortenRedirects = (evidence: string): string =>
  firstOf(splitRedirects(evidence), placeOf)
    .join(' and ')
    .replaceAll(/\S+/g, (word) => (word.length > longestShown ? `${word.slice(0, longestShown)}…` : word));

/** Where files of a repository were redirected to, by its findings. */
export const readRedirectTargets = (
  findings: readonly { readonly code: string; readonly example: string }[],
): readonly string[] =>
  findings
    .filter(({ code }) => code === 'redirected')
    .flatMap(({ example }) => splitRedirects(example).flatMap((redirect) => targetOf(redirect) ?? []));
