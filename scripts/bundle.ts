import path from 'node:path';
import { makeBundle, productFolder } from '../src/site/bundle.ts';
import { runCommand } from './options.ts';

await runCommand(
  {
    name: 'bundle',
    summary:
      'Bundles the pages of the site into "bundle", so that a build needs neither Astro nor a checkout that can be written.',
    options: {},
  },
  async () => {
    const made = await makeBundle(productFolder);
    const folder = path.relative(process.cwd(), productFolder);
    process.stdout.write(made ? `Bundled the pages into ${folder}.\n` : `${folder} is up to date.\n`);
  },
);
