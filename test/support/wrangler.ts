import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from './find-program.ts';

/** The message if the platform's tool is missing. */
export const noWrangler = 'wrangler is not here: put it into PATH, or say where by DEBDEX_WRANGLER';

/**
 * The platform's tool, if it is installed. It is not among the project's packages, because the project deploys nothing.
 */
export const findWrangler = (): string | undefined => process.env.DEBDEX_WRANGLER ?? findProgram('wrangler');

/**
 * Lets it perform a whole deployment of a bundle except for the upload. Resolves to its output. Throws if it refuses.
 */
export const rehearseDeployment = async (wrangler: string, folder: string): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)(wrangler, ['deploy', '--dry-run'], {
    cwd: folder,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1' },
  });
  return stdout + stderr;
};
