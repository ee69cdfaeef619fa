import { runCommand } from './options.ts';
import { runServer, serverOptions } from './server-options.ts';

await runCommand(
  {
    name: 'serve',
    summary: 'Serves what was built: the API, the site and everything computed.',
    options: serverOptions,
  },
  runServer,
);
