/** A queue of waiting work, each for one client. */
export interface Line<T> {
  add(client: string, one: T): void;
  /** Removes and returns the next one; undefined if nothing waits. */
  next(): T | undefined;
}

/** A queue in which clients take turns: a client with a thousand entries delays another one by a single entry. */
export interface ClientLine<T> extends Line<T> {
  isEmpty(): boolean;
}

export const createClientLine = <T>(): ClientLine<T> => {
  // Clients in the order of their turns, each with what waits for it.
  const waiting = new Map<string, T[]>();
  return {
    isEmpty: () => waiting.size === 0,
    add: (client, one) => {
      const others = waiting.get(client);
      if (others === undefined) waiting.set(client, [one]);
      else others.push(one);
    },
    next: () => {
      const [first] = waiting;
      if (first === undefined) return undefined;
      const [client, all] = first;
      const next = all.shift();
      waiting.delete(client);
      if (all.length > 0) waiting.set(client, all);
      return next;
    },
  };
};
