// Computing what a page shows is half of rendering it. So a page that is rendered anyway has its key computed together
// with it. Only for pages that were rendered before, keys are computed in advance.

/** How the cache keys of one kind of page are computed from a subject. */
interface Deferral<Subject> {
  readonly compute: (subject: Subject) => string;
  /** Returns something that is much cheaper to compute, and while it stays the same, so does the key. */
  readonly inputs?: (subject: Subject) => string | undefined;
}

interface DeferredKey<Subject = never> {
  readonly subject: Subject;
  readonly how: Deferral<Subject>;
}

const deferred: DeferredKey[] = [];
const mark = 'deferred ';

/** A cache key for `getStaticPaths` to return, which is computed when `readKey` is called with it. */
export const deferKey = <Subject>(subject: Subject, how: Deferral<Subject>): string =>
  `${mark}${deferred.push({ subject, how } as DeferredKey<Subject> as unknown as DeferredKey) - 1}`;

const find = (key: string): DeferredKey | undefined =>
  key.startsWith(mark) ? deferred[Number(key.slice(mark.length))] : undefined;

/** The cache key of a page, computed now if that was deferred. */
export const readKey = (key: string): string => {
  const found = find(key);
  return found === undefined ? key : found.how.compute(found.subject);
};

/** The inputs of a page's cache key, if they are available. */
export const readInputs = (key: string): string | undefined => {
  const found = find(key);
  return found?.how.inputs?.(found.subject);
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

/** Caches recent results of a function, because neighbouring pages show the same things. */
export const rememberRecent = <Asked extends object | string, Answer>(
  compute: (asked: Asked) => Answer,
): ((asked: Asked) => Answer) => {
  const answers = new Map<Asked, Answer>();
  return (asked) => {
    const known = answers.get(asked);
    if (known !== undefined) return known;
    if (answers.size >= recently) answers.clear();
    const answer = compute(asked);
    answers.set(asked, answer);
    return answer;
  };
};
