import { existsSync, readdirSync, readFileSync } from 'node:fs';

const readNumber = (status: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);

interface Process {
  readonly parent: number;
  /** Resident memory in bytes. */
  readonly memory: number;
}

const readProcesses = (): Map<number, Process> => {
  const processes = new Map<number, Process>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      processes.set(Number(name), { parent: readNumber(status, 'PPid'), memory: readNumber(status, 'VmRSS') * 1024 });
    } catch {
      // It has ended since it was listed.
    }
  }
  return processes;
};

const memoryOf = (root: number): number => {
  const processes = readProcesses();
  const belongs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = processes.get(at)?.parent) {
      if (at === root) return true;
    }
    return false;
  };
  let memory = 0;
  for (const [pid, one] of processes) if (belongs(pid)) memory += one.memory;
  return memory;
};

/**
 * Watches a process and its descendants. The returned function stops that, and returns the most memory that they had
 * together, in bytes (shared pages count for each); undefined if the system does not report it.
 */
export const watchMemory = (pid: number): (() => number | undefined) => {
  if (!existsSync('/proc/self/status')) return () => undefined;
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, memoryOf(pid));
  }, 100);
  return () => {
    clearInterval(timer);
    return peak;
  };
};
