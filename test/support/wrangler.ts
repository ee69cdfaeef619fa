import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from './host-programs.ts';

/** What to say where the platform's tool is missing. */
export const noWrangler = 'wrangler is not here: put it into PATH, or say where by DEBDEX_WRANGLER';

/** The platform's tool, where it is here. It is no package of the project, which deploys nothing. */
export const findWrangler = (): string | undefined => process.env.DEBDEX_WRANGLER ?? findProgram('wrangler');

/** Has it do all of a deployment of a bundle but sending it; resolves to what it says. Throws where it refuses. */
export const rehearseDeployment = async (wrangler: string, folder: string): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)(wrangler, ['deploy', '--dry-run'], {
    cwd: folder,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1' },
  });
  return stdout + stderr;
};
