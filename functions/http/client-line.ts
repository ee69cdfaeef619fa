/** Those who wait at a gate, each for somebody's sake, in the order that suits what they wait for. */
export interface Line<T> {
  add(client: string, one: T): void;
  /** Takes out who is next; undefined where nobody waits. */
  next(): T | undefined;
}

/** A line in which clients take turns: one who waits a thousand times delays another by one of them. */
export interface ClientLine<T> extends Line<T> {
  isEmpty(): boolean;
}

export const createClientLine = <T>(): ClientLine<T> => {
  // Clients in the order in which they are next, each with what waits for its sake.
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
