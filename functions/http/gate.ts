import { createClientLine, type Line } from './client-line.ts';

/** Limits how much work runs at the same time. */
export interface Gate {
  /** Whether new work would begin immediately. */
  isOpen(): boolean;
  /** Does the work when there is room for it: waiting work begins when other work ends or fails. */
  pass<T>(client: string, work: () => Promise<T>): Promise<T>;
}

/** A gate that lets `most` pass at a time. The others wait in this queue. */
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
