// Loaded first in a child process: a service manager signals all processes, and this one ends with its parent.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
