/** The evidence of the finding `redirected`. */
export const sayRedirect = (asked: URL, reached: URL): string => `${asked} to ${reached}`;

/** Where a file of a repository was redirected to, by its findings; undefined if none was. */
export const readRedirectTarget = (
  findings: readonly { readonly code: string; readonly example: string }[],
): string | undefined => findings.find(({ code }) => code === 'redirected')?.example.split(' to ')[1];
