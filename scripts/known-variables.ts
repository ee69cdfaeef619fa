/**
 * The names of all variables, without the leading `DEBDEX_`: those of all commands, because one file of settings may
 * serve several, and those of the recipes in deploy/. A test compares the list with the code that reads them.
 */
export const knownVariables: readonly string[] = [
  'ACCESS_LOG',
  'ALLOW_PRIVATE_NETWORKS',
  'ANSWER_MEMORY',
  'BASE_PATH',
  'BASE_URL',
  'BENCH_DIR',
  'BINARY',
  'CLIENT_CONNECTIONS',
  'COMPONENT',
  'CONCURRENCY',
  'CONNECTIONS',
  'COUNT_DOWNLOADS',
  'DATA',
  'DESTINATION',
  'DEVELOPMENT',
  'DOWNLOADS_AT',
  'DOWNLOADS_DATABASE',
  'DRY_RUN',
  'EDGE_GATEWAY',
  'FAIL_ON_STALE',
  'FILES_ONLY',
  'FORCE',
  'FROM',
  'FUNCTION',
  'FUZZ_KEEP',
  'FUZZ_MINUTES',
  'FUZZ_MODE',
  'HEALTH_INTERVAL',
  'HEALTH_URI',
  'HOST',
  'IMPORT_SOURCE',
  'JSON',
  'KEEP_REMOVED',
  'KEY',
  'LOG_FORMAT',
  'LOG_LEVEL',
  'MANIFEST',
  'METRICS_HOST',
  'METRICS_PORT',
  'MIRROR_CONCURRENCY',
  'NOTIFY',
  'NO_OLDER_ADDRESSES',
  'NO_SITE',
  'ONLY',
  'OPERATOR_KEY',
  'OUT',
  'POLL_INTERVAL',
  'PORT',
  'PORTIONS',
  'PRECOMPRESS',
  'PUBLICATION',
  'PUBLIC_KEY',
  'RATE_LIMIT',
  'READER_TIMEOUT',
  'REMOVALS',
  'REPLICAS',
  'REPORT',
  'RETRY_NOW',
  'RULES',
  'S3_CORS',
  'S3_ENDPOINT',
  'S3_REGION',
  'SAMPLE',
  'SHUTDOWN_DELAY',
  'SIGNING_KEY',
  'SITE',
  'SOAK_GENTLE',
  'SOAK_MINUTES',
  'STATE',
  'STATIC_REFS',
  'SUITE',
  'TAKE_OVER',
  'TIME_BUDGET',
  'TRUSTED_PROXIES',
  'UNREAD_MEMORY',
  'UPLOAD_CONCURRENCY',
  'VERIFY',
  'WORKER',
];

// Variables of the tests and of programs that they start.
const isOfTests = (name: string): boolean => /^(?:TESTS?_|BUN$|DENO$|WRANGLER$)/.test(name);

/** How many letters have to be inserted, removed or replaced to turn one text into the other. */
const countEdits = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [index, asked] of [...other].entries()) {
      const replaced = (row[index] ?? 0) + (letter === asked ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

/** The name among these that was probably meant; undefined if none is similar. */
export const findNearest = (name: string, names: readonly string[]): string | undefined => {
  // OUTPUT begins with OUT, which edit distance alone could not tell from any other name of three letters.
  const near = names
    .map((known) => ({ known, edits: countEdits(name, known), begins: known.length > 2 && name.startsWith(known) }))
    .filter(({ known, edits, begins }) => begins || (edits <= 2 && edits < known.length / 2));
  return near.sort((one, other) => one.edits - other.edits)[0]?.known;
};

/** A sentence about the variables that begin with `DEBDEX_` and are unknown; undefined if there are none. */
export const tellUnknownVariables = (environment: NodeJS.ProcessEnv): string | undefined => {
  const known = new Set(knownVariables);
  const unknown = Object.keys(environment)
    .filter((name) => name.startsWith('DEBDEX_'))
    .map((name) => name.slice('DEBDEX_'.length))
    .filter((name) => !known.has(name) && !isOfTests(name))
    .sort();
  if (unknown.length === 0) return undefined;
  const named = unknown.map((name) => {
    const nearest = findNearest(name, knownVariables);
    return `DEBDEX_${name}${nearest === undefined ? '' : ` (DEBDEX_${nearest}?)`}`;
  });
  return `Nothing reads ${named.join(', ')}: --help names the variables of a command.`;
};
