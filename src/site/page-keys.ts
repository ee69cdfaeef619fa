// Computing what a page shows is half of rendering it. A page that is rendered anyway has its key computed with it, from
// the same; only of those that were rendered before, keys are asked for beforehand.

/** How the cache keys of pages of one kind are computed, each from what it is of. */
interface Deferral<Subject> {
  readonly compute: (subject: Subject) => string;
  /** Says by far less work whether the key can have changed: while this stays the same, so does the key. */
  readonly inputs?: (subject: Subject) => string | undefined;
}

interface DeferredKey<Subject = never> {
  readonly subject: Subject;
  readonly how: Deferral<Subject>;
}

const deferred: DeferredKey[] = [];
const mark = 'deferred ';

/** A cache key for `getStaticPaths` to give, which is computed when `readKey` is called with it. */
export const deferKey = <Subject>(subject: Subject, how: Deferral<Subject>): string =>
  `${mark}${deferred.push({ subject, how } as DeferredKey<Subject> as unknown as DeferredKey) - 1}`;

const find = (key: string): DeferredKey | undefined =>
  key.startsWith(mark) ? deferred[Number(key.slice(mark.length))] : undefined;

/** The cache key of a page, computed now where that was put off. */
export const readKey = (key: string): string => {
  const found = find(key);
  return found === undefined ? key : found.how.compute(found.subject);
};

/** What the cache key of a page is computed from, where it says so. */
export const readInputs = (key: string): string | undefined => {
  const found = find(key);
  return found?.how.inputs?.(found.subject);
};

/** The same function, which answers at once where it is asked again what it was asked last. */
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

/** How many answers are remembered. */
const recently = 4096;

/** The same function, which answers at once where it was asked the same of late: pages beside each other show the same. */
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
