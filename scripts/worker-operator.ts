/**
 * Where a Worker is that is asked with the key of its operator: https, or http on this machine alone, for whoever reads the key
 * on its way has it. Undefined where a text is no such address.
 */
export const parseWorkerAddress = (text: string): URL | undefined => {
  const url = URL.parse(text);
  const isLoopback = url?.protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  return url !== null && (isLoopback || url.protocol === 'https:') && url.search === '' && url.hash === ''
    ? url
    : undefined;
};

/**
 * The key of the operator that the environment has; undefined where it has none. Throws what `refuse` makes of why it can be
 * none: a header that it does not fit into would be shown, with the key, by who refuses it.
 */
export const readOperatorKey = (refuse: (reason: string) => Error): string | undefined => {
  const key = process.env.DEBDEX_OPERATOR_KEY ?? '';
  if (key === '') return undefined;
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw refuse('DEBDEX_OPERATOR_KEY must be one line of printable ASCII characters without blanks, 512 at most');
};
