// Loaded ahead of what a process of our own does: a service manager tells every process to stop, and this one ends with
// whoever started it.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
