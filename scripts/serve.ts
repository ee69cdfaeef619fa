import { exitCodes } from './exit-codes.ts';
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
    endings: [
      [exitCodes.done, 'stopped, as it was told to'],
      [exitCodes.nothingUsable, 'nothing to serve, no address to listen on, or told a second time to stop'],
      [exitCodes.usage, 'bad usage: a flag or variable, a setting of the gateway, or the safety list'],
    ],
    openLog,
  },
  (values) => runServer(values, values),
);
