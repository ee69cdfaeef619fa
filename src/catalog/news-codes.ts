import type { Tidings } from '../snapshots/record-history.ts';

/** How the column `record.news` encodes what a record is to followers of its repository. */
export const newsCode = { known: 0, added: 1, updated: 2 } as const satisfies Record<Tidings, number>;
