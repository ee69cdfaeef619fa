import { hash } from 'node:crypto';

// What a page shows is determined by things that are much cheaper to digest than to show. Even so, a digest for each of a
// hundred thousand packages takes seconds, so it is computed when a page has to be compared or rendered, by the thread
// that does so.

interface DeferredKey<Subject = never> {
  readonly subject: Subject;
  readonly compute: (subject: Subject) => string;
}

const deferred: DeferredKey[] = [];
const mark = 'deferred ';

/** A cache key for `getStaticPaths` to return, which is computed when `readKey` is called with it. */
export const deferKey = <Subject>(subject: Subject, compute: (subject: Subject) => string): string =>
  `${mark}${deferred.push({ subject, compute } as DeferredKey<Subject> as unknown as DeferredKey) - 1}`;

const digest = (shown: unknown): string => hash('sha256', JSON.stringify(shown), 'base64url');

/** The same for a page that shows no more than this. */
export const deferDigest = (shown: unknown): string => deferKey(shown, digest);

/** The cache key of a page, computed now if that was deferred. */
export const readKey = (key: string): string => {
  const found = key.startsWith(mark) ? deferred[Number(key.slice(mark.length))] : undefined;
  return found === undefined ? key : found.compute(found.subject);
};

/** Caches the last result of a function. */
export const rememberLast = <Asked extends readonly unknown[], Answer>(
  compute: (...asked: Asked) => Answer,
): ((...asked: Asked) => Answer) => {
  let last: { readonly asked: Asked; readonly answer: Answer } | undefined;
  return (...asked) => {
    if (last === undefined || asked.some((one, index) => one !== last?.asked[index])) {
      last = { asked, answer: compute(...asked) };
    }
    return last.answer;
  };
};

/** How many results are cached. */
const recently = 4096;
/**
 * Of a longer text, in characters, no result is cached: strangers write up to 32,768, and 4,096 fields of relations of that
 * length would take two gigabytes. Nearly all are shorter.
 */
const longestRemembered = 500;

/** Caches recent results of a function, because neighbouring pages show the same things. */
export const rememberRecent = <Asked extends object | string, Answer>(
  compute: (asked: Asked) => Answer,
): ((asked: Asked) => Answer) => {
  const answers = new Map<Asked, Answer>();
  return (asked) => {
    if (typeof asked === 'string' && asked.length > longestRemembered) return compute(asked);
    const known = answers.get(asked);
    if (known !== undefined) return known;
    if (answers.size >= recently) answers.clear();
    const answer = compute(asked);
    answers.set(asked, answer);
    return answer;
  };
};
