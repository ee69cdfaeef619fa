/**
 * Works on several items at the same time, in their order. If one fails, no other is begun, and those in progress end
 * first.
 *
 * @throws the first error of `work`, in the order of the workers
 */
export const eachAtOnce = async <Item>(
  items: Iterable<Item>,
  { concurrency, count }: { readonly concurrency: number; readonly count: number },
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const queue = items[Symbol.iterator]();
  let hasFailed = false;
  const worker = async () => {
    for (let next = queue.next(); next.done !== true && !hasFailed; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, count) }, worker);
  for (const outcome of await Promise.allSettled(workers)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
};
