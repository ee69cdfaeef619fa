import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { computeKey, holds, productFolder } from '../../src/site/bundle.ts';

/**
 * Bundles the pages once, as `npm run bundle` does, before any test builds a site: each of those builds would otherwise
 * spend most of its time on a bundle of its own. How a build makes one for itself is tested in bundle.test.ts.
 */
export const setup = (): void => {
  // Only to be told so, the command takes half a second of a processor.
  if (holds(productFolder, computeKey())) return;
  const script = path.join(import.meta.dirname, '..', '..', 'scripts', 'bundle.ts');
  const { status, stderr, stdout } = spawnSync(process.execPath, [script, 'pages'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The pages cannot be bundled: ${stderr}${stdout}`);
};
