/** How many requests of each client are in progress. */
export interface RequestCounts {
  of(client: string): number;
  add(client: string): void;
  remove(client: string): void;
}

/** Counters that start at zero. */
export const createRequestCounts = (): RequestCounts => {
  const counts = new Map<string, number>();
  return {
    of: (client) => counts.get(client) ?? 0,
    add: (client) => void counts.set(client, (counts.get(client) ?? 0) + 1),
    remove: (client) => {
      const left = (counts.get(client) ?? 0) - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
    },
  };
};
