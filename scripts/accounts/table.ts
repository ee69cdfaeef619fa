import type { AccountSummary } from '../../functions/gateway/on-node.ts';

/** The accounts as a table for the terminal, or a sentence that there is none. */
export const formatAccounts = (accounts: readonly AccountSummary[]): string => {
  if (accounts.length === 0) return 'There is no account yet. Add one with: npm run accounts -- add NAME';
  const rows = accounts.map(({ name, displayName, devices, createdAt, disabledAt }) => [
    printable(name),
    String(devices),
    new Date(createdAt).toISOString().slice(0, 10),
    disabledAt === null ? '' : 'disabled',
    displayName === name ? '' : printable(displayName),
  ]);
  const table = [['NAME', 'DEVICES', 'ADDED', 'STATE', 'SHOWN AS'], ...rows];
  // A call takes no more than some ten thousand arguments.
  const widest = (column: number) => table.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0);
  const widths = table[0]?.map((_, column) => widest(column)) ?? [];
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

// Names from a provider are chosen by its users, so control characters must not reach the terminal.
const printable = (text: string) => text.replace(/\p{Control}/gu, '?');
