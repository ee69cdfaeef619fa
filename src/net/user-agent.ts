/**
 * The User-Agent field: our name and version, and where an origin's owner can complain: a web or mail address without
 * blanks, brackets or control characters; anything else is left out.
 */
export const composeUserAgent = (version: string, contact?: string): string =>
  `Debdex/${version}${contact !== undefined && /^[!-'*-~]+$/.test(contact) ? ` (+${contact})` : ''}`;
