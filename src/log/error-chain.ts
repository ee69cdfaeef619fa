/**
 * One error of a chain, as it is logged: its name, its message, and the code from the system or library that threw it.
 */
export interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** The longest chain that is followed, and how many errors of an AggregateError are included. */
const longestChain = 8;
const mostTogether = 3;

const describe = (error: unknown): LoggedError => {
  if (!(error instanceof Error)) return { name: typeof error, message: String(error) };
  const { code } = error as { code?: unknown };
  const told = { name: error.name, message: error.message };
  return typeof code === 'string' || typeof code === 'number' ? { ...told, code: String(code) } : told;
};

/**
 * An error and everything that led to it, the first cause last: its `cause`, and the errors in an AggregateError. Ends
 * at a cycle, and after eight.
 */
export const errorChain = (error: unknown): readonly [LoggedError, ...LoggedError[]] => {
  const seen = new Set<unknown>([error]);
  const chain: [LoggedError, ...LoggedError[]] = [describe(error)];
  const queue: unknown[] = [error];
  for (const each of queue) {
    if (!(each instanceof Error)) continue;
    const together = each instanceof AggregateError ? each.errors.slice(0, mostTogether) : [];
    for (const next of [...together, ...(each.cause === undefined ? [] : [each.cause])]) {
      if (seen.has(next) || chain.length >= longestChain) continue;
      seen.add(next);
      chain.push(describe(next));
      queue.push(next);
    }
  }
  return chain;
};

/** The same as one sentence with all messages that are not empty. */
export const inWords = (error: unknown): string =>
  errorChain(error)
    .flatMap(({ message }) => message || [])
    .join(': ');

/** The lines of an error's stack without its name and message, because a stranger may have chosen the message. */
export const framesOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  // The stack begins with the message, which may have lines that look like frames.
  const frames = (error.stack ?? '')
    .replace(error.message, () => '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  return frames.length === 0 ? undefined : frames.map((line) => line.trim()).join('\n');
};
