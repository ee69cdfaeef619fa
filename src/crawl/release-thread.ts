import { parentPort, workerData } from 'node:worker_threads';
import { judgeSignature, readReleaseText } from './release-text.ts';
import type { ReleaseTask } from './release-work.ts';

// The thread of release-work.ts, which does the one task that it is started with.
const task = workerData as ReleaseTask;
const result = task.kind === 'read' ? readReleaseText(task.bytes, task.wanted, task) : await judgeSignature(task);
parentPort?.postMessage(result);
