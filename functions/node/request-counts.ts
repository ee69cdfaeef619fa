/** The requests of each client that are under way. */
export interface RequestCounts {
  of(client: string): number;
  add(client: string): void;
  remove(client: string): void;
}

/** Counts from nothing. */
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
