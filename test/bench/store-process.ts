import { ObjectStoreServer } from '../support/object-store.ts';

// The tests' S3 server in a process of its own, so that its cost does not count for the upload.
const server = await ObjectStoreServer.start(process.argv[2] ?? '');
process.stdout.write(`Listening on ${server.port}\n`);
