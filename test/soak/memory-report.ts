import { writeSync } from 'node:fs';

// Loaded before a server, which then says on its fourth descriptor how much memory it has.
setInterval(() => writeSync(3, `${JSON.stringify(process.memoryUsage())}\n`), 250).unref();
