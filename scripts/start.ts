import { spawn } from 'node:child_process';
import path from 'node:path';
import { buildOptions } from './build-options.ts';
import { CommandFailure, runCommand } from './options.ts';
import { runServer, serverOptions } from './run-server.ts';

const buildScript = path.join(import.meta.dirname, 'build.ts');

/** Runs the build as a process of its own, whose memory is given back before serving begins. Returns its exit code. */
const runBuild = (environment: NodeJS.ProcessEnv): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [...process.execArgv, '--max-semi-space-size=8', '--heap-growing-percent=40', buildScript],
      {
        env: environment,
        stdio: 'inherit',
      },
    );
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
  });

await runCommand(
  {
    name: 'start',
    summary: 'Builds from the manifest, then serves. Builds the bundled sample where no repository can be reached.',
    options: { ...buildOptions, ...serverOptions },
  },
  async (values) => {
    const flags = Object.entries(buildOptions).map(([name, { environment }]): [string, string] => [
      environment,
      String(values[name as keyof typeof buildOptions]),
    ]);
    const environment = { ...process.env, ...Object.fromEntries(flags) };
    // Links should lead to the server that is started, unless another public address is named.
    if (values['base-url'] === buildOptions['base-url'].default) {
      environment.DEBDEX_BASE_URL = `http://localhost:${values.port}`;
    }
    let code = await runBuild(environment);
    if (code === 1 && !values.sample) {
      process.stdout.write(
        '\nNo repository could be reached. Building the bundled sample instead, so that there is something to see.\n\n',
      );
      code = await runBuild({ ...environment, DEBDEX_SAMPLE: '1' });
    }
    if (code !== 0) throw new CommandFailure(`The build ended with exit code ${code}; there is nothing new to serve.`);
    await runServer(values);
  },
);
