import { runCommand } from '../../scripts/options.ts';

const summary = 'Measures the crawler: repositories far away, hostile ones among others, and bombs.';
await runCommand({ name: 'bench:crawl', summary, options: {} }, async () => {
  // Loaded late, so that `--help` need not wait for it.
  const { measureCrawl } = await import('./measure-crawl.ts');
  process.stdout.write(await measureCrawl());
});
