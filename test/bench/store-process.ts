import { ObjectStoreServer } from '../support/object-store.ts';

// The S3 server of the tests in a process of its own: what it takes is not the upload's.
const server = await ObjectStoreServer.start(process.argv[2] ?? '');
process.stdout.write(`Listening on ${server.port}\n`);
