import { enableCompileCache, flushCompileCache } from 'node:module';
import path from 'node:path';
import { isMainThread } from 'node:worker_threads';

// Loaded ahead of the commands (`node --import`): compiling is more than half of the time in which they start, so what was
// compiled once is kept, beside the packages it belongs to. Where that folder cannot be written nothing is kept.
enableCompileCache(path.join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled'));

// Node writes it at its exit, which a server that is killed never reaches.
if (isMainThread) setTimeout(flushCompileCache, 2000).unref();
