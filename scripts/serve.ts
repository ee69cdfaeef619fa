import { openLog } from './log-options.ts';
import { proxyVariables, runCommand } from './options.ts';
import { replicaOptions, runServer, serverOptions, serverVariables } from './server-options.ts';

await runCommand(
  {
    name: 'serve',
    summary:
      'Serves what was built: the API, the site and everything computed. With --from it needs no build, and serves a\n' +
      'replica of what is published elsewhere.',
    options: { ...serverOptions, ...replicaOptions },
    variables: [...serverVariables, proxyVariables],
    openLog,
  },
  (values) => runServer(values, values),
);
