import { parentPort, workerData } from 'node:worker_threads';
import { OutputFolder } from './output-folder.ts';
import { type WriteRequest, writeDocuments } from './writer.ts';

// The thread of DocumentWriter: writes each batch that it receives, and answers when all of it is in place. The sender
// flushes it, with everything else of the build.
const output = new OutputFolder((workerData as { out: string }).out);

parentPort?.on('message', (batch: readonly WriteRequest[]) => {
  writeDocuments(output, batch);
  parentPort?.postMessage(batch.length);
});
