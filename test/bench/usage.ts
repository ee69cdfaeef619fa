import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// Loaded ahead of a measured process: at its end it says what the operating system counted, its threads included.
if (isMainThread) process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())));
