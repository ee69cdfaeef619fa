/**
 * Node flags for commands that may run with little memory. They have to be on the command line of a process, so
 * package.json repeats them, and a test compares. Without them Node adapts to the machine: it gives new objects up to
 * 67 MB before it looks which are in use (these flags: 4 or 8 MB), and lets the heap grow to several times of what is
 * in use.
 *
 * - `max-semi-space-size`: MB for new objects. A build makes many more of them than a server, and whenever the space is
 *   full, those in use are copied.
 * - `heap-growing-percent`: how far the heap grows beyond what was in use before garbage is collected.
 */
export const memoryFlags = {
  build: ['--max-semi-space-size=8', '--heap-growing-percent=40'],
  serve: ['--max-semi-space-size=4', '--heap-growing-percent=40'],
  // It runs the build in a separate process, and serves when that has ended.
  start: ['--max-semi-space-size=4', '--heap-growing-percent=40'],
} as const;
