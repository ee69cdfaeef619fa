/**
 * The User-Agent field: our name and version, and a contact for owners of origins: a web or mail address without
 * blanks, brackets or control characters. Any other contact is left out.
 */
export const composeUserAgent = (version: string, contact?: string): string =>
  `Debdex/${version}${contact !== undefined && /^[!-'*-~]+$/.test(contact) ? ` (+${contact})` : ''}`;
