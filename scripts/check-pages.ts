import { spawnSync } from 'node:child_process';
import path from 'node:path';

// Checks the types of the pages with Astro's own check, without telemetry.
const project = path.join(import.meta.dirname, '..');
const astro = path.join(project, 'node_modules', 'astro', 'bin', 'astro.mjs');
const { status, error } = spawnSync(process.execPath, [astro, 'check', '--tsconfig', 'tsconfig.astro.json'], {
  cwd: project,
  stdio: 'inherit',
  env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
});
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
