/**
 * The same `postgres://` address, with `sslmode=verify-full` in the place of the modes that the driver takes for the same.
 * It warns of those in lines of its own, which the readers of a log in JSON cannot read, and its next version checks less
 * by them.
 */
export const asVerifyFull = (url: string): string =>
  // Who asks for the weaker modes of libpq by this parameter means them.
  /[?&]uselibpqcompat=/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, '$1verify-full');
