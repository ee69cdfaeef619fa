import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { computeKey, holds, productFolder } from '../../src/site/bundle.ts';

/**
 * Bundles the pages once, as `npm run bundle` does, before any test builds a site. Otherwise each of those builds would
 * spend most of its time on a bundle of its own. bundle.test.ts tests how a build makes one for itself.
 */
export const setup = (): void => {
  // Only to find that out, the command would take half a second of processor time.
  if (holds(productFolder, computeKey())) return;
  const script = path.join(import.meta.dirname, '..', '..', 'scripts', 'bundle.ts');
  const { status, stderr, stdout } = spawnSync(process.execPath, [script, 'pages'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The pages cannot be bundled: ${stderr}${stdout}`);
};
