import { writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

// Abusers, visitors, builds and the server run on one machine here. In life strangers bring processors of their own, and
// builds are told to stand back (`nice`); so where the system lets us, the server and the clock that measures it come
// first, and a wait that is found is the server's and not that of a process that had no turn.
const first = -15;
const last = 5;

// Linux weighs whole sessions against each other before the processes of each (sched_autogroup); elsewhere there is none.
const liftSession = (pid: number | 'self'): void => {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(first));
  } catch {}
};

/** Whether this process may say who comes first; it is then itself among the first. */
export const takePriority = (): boolean => {
  try {
    setPriority(first);
    liftSession('self');
    return true;
  } catch {
    return false;
  }
};

/** Lets a process in a session of its own come first as well, where this process does. */
export const letComeFirst = (pid: number): void => {
  if (getPriority() === first) liftSession(pid);
};

/** Starts a process that stands back, where this process came first; a process has the priority of who starts it. */
export const startLast = <T>(start: () => T): T => {
  const before = getPriority();
  if (before !== first) return start();
  setPriority(last);
  try {
    return start();
  } finally {
    setPriority(before);
  }
};
