// Takes the picture at the top of README.md: the first page of the bundled sample, in both themes. The results are
// committed; run this again after a change to the looks of the site.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { launchBrowser as LaunchBrowser } from '../test/support/browser.ts';
import { runCommand } from './options.ts';

const project = path.join(import.meta.dirname, '..');
const size = { width: 1200, height: 900 };

const build = (state: string, out: string): void => {
  const flags = ['--sample', '--state', state, '--out', out];
  const command = ['--import', './scripts/ahead.mjs', 'scripts/build.ts', ...flags];
  const { status } = spawnSync(process.execPath, command, { cwd: project, stdio: 'inherit' });
  if (status !== 0) throw new Error(`The sample cannot be built (${status}); the reason is above.`);
};

const takePictures = async (address: string, launchBrowser: typeof LaunchBrowser): Promise<void> => {
  const { default: sharp } = await import('sharp');
  await using browser = await launchBrowser();
  for (const theme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: size, colorScheme: theme, deviceScaleFactor: 1.5 });
    await page.goto(address, { waitUntil: 'networkidle' });
    const file = path.join(project, 'docs', `site-${theme}.webp`);
    const { size: bytes } = await sharp(await page.screenshot())
      .webp({ quality: 80, effort: 6 })
      .toFile(file);
    process.stdout.write(`${path.relative(project, file)}: ${Math.ceil(bytes / 1000)} kB\n`);
    await page.close();
  }
};

await runCommand(
  {
    name: 'picture',
    summary: 'Takes the picture that README.md opens with anew, of the bundled sample in both themes.',
    options: {},
  },
  async () => {
    // Before the build, which takes a while: without the development packages there is no browser.
    const [{ serveFolder }, { launchBrowser }] = await Promise.all([
      import('../test/support/static-server.ts'),
      import('../test/support/browser.ts'),
    ]);
    const folder = mkdtempSync(path.join(tmpdir(), 'debdex-picture-'));
    try {
      const out = path.join(folder, 'out');
      build(path.join(folder, 'state'), out);
      const server = await serveFolder(out);
      try {
        await takePictures(`${server.base}/`, launchBrowser);
      } finally {
        await server.close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
