import { runCommand } from '../../scripts/options.ts';

const summary =
  'Measures the gateway on SQLite and PostgreSQL, in about a minute; exit code 1 where a target is not met.';
await runCommand({ name: 'bench:gateway', summary, options: {} }, async () => {
  // Loaded late, so that `--help` need not wait for it.
  const { benchGateway } = await import('./measure-gateway.ts');
  const met = await benchGateway((line) => process.stdout.write(`${line}\n`));
  process.exitCode = met ? 0 : 1;
});
