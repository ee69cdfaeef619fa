/**
 * Flags of Node for what may have little memory, by command. They have to stand on the command line of a process, so
 * package.json repeats them, and a test compares. Without them it goes by what the machine has: it gives new objects up
 * to 67 MB before it looks which are in use, where these give 8, and lets the rest grow to several times of what is.
 *
 * - `max-semi-space-size`: MB for objects that are new. A build makes many more of them than a server, and each time
 *   that their space is full costs it the copying of those in use.
 * - `heap-growing-percent`: how far beyond what was in use the heap grows before anybody looks for garbage in it.
 */
export const memoryFlags = {
  build: ['--max-semi-space-size=8', '--heap-growing-percent=40'],
  serve: ['--max-semi-space-size=4', '--heap-growing-percent=40'],
  // It serves once the build, a process of its own, is over.
  start: ['--max-semi-space-size=4', '--heap-growing-percent=40'],
} as const;
