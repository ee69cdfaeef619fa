import { createClientLine, type Line } from './client-line.ts';

/** Lets so much work be under way at a time. */
export interface Gate {
  /** Whether work would begin at once. */
  isOpen(): boolean;
  /** Does the work when there is room for it; who waits takes the place of who is done or failed. */
  pass<T>(client: string, work: () => Promise<T>): Promise<T>;
}

/** A gate for at most so many, before which the others stand in this line. */
export const createGate = (most: number, line: Line<() => void> = createClientLine()): Gate => {
  let underWay = 0;
  return {
    isOpen: () => underWay < most,
    pass: async (client, work) => {
      if (underWay < most) underWay++;
      else await new Promise<void>((resolve) => line.add(client, resolve));
      try {
        return await work();
      } finally {
        const enter = line.next();
        if (enter === undefined) underWay--;
        else enter();
      }
    },
  };
};
