import { spawn } from 'node:child_process';
import path from 'node:path';
import { holdsPublication, isOutputOfBuilds } from '../src/publication/owner.ts';
import { composeBuildEnvironment } from './build-environment.ts';
import { buildOptions, buildVariables } from './build-options.ts';
import { buildEndings, chooseNext, exitCodes } from './exit-codes.ts';
import { openLog } from './log-options.ts';
import { memoryFlags } from './memory-flags.ts';
import { CommandFailure, runCommand } from './options.ts';
import { assertPortsFree, runServer, serverOptions, serverVariables } from './server-options.ts';

const buildScript = path.join(import.meta.dirname, 'build.ts');

/**
 * Runs the build in a separate process, whose memory is freed before serving begins. A signal that would end this
 * process is passed on to it first. Returns its exit code.
 */
const runBuild = async (environment: NodeJS.ProcessEnv): Promise<number> => {
  const flags = [...process.execArgv, ...memoryFlags.build];
  const child = spawn(process.execPath, [...flags, buildScript], { env: environment, stdio: 'inherit' });
  const pass = (signal: NodeJS.Signals) => {
    // A terminal signals the build directly, and a second signal would count as impatience.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  process.on('SIGTERM', pass).on('SIGINT', pass);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code, signal) => resolve(code ?? (signal === null ? exitCodes.failed : 128)));
    });
  } finally {
    process.off('SIGTERM', pass).off('SIGINT', pass);
  }
};

await runCommand(
  {
    name: 'start',
    summary:
      'Builds from the manifest, then serves. If no repository can be reached, it serves what was published before or, if nothing was, the bundled sample.',
    options: { ...buildOptions, ...serverOptions },
    variables: [...buildVariables, ...serverVariables],
    endings: buildEndings,
    openLog,
  },
  async (values) => {
    const environment = composeBuildEnvironment(values, process.env);
    await assertPortsFree(values);
    let code = await runBuild(environment);
    if (code === exitCodes.unreachable && !values.sample) {
      if (holdsPublication(values.out)) {
        process.stdout.write('\nServing what was published before.\n\n');
        code = exitCodes.done;
      } else {
        process.stdout.write('\nBuilding the bundled sample instead, so that there is something to see.\n\n');
        code = await runBuild({ ...environment, DEBDEX_SAMPLE: '1' });
      }
    }
    // Whoever has to confirm something before the first build publishes has nothing to serve.
    const isRefused = code === exitCodes.needsWord && !isOutputOfBuilds(values.out);
    const next = isRefused ? 'fail' : chooseNext(code);
    if (next === 'end') process.exitCode = code;
    else if (next === 'serve') await runServer(values);
    else throw new CommandFailure(`The build ended with exit code ${code}; there is nothing new to serve.`, code);
  },
);
