import { existsSync, readdirSync } from 'node:fs';

/** The names in a folder but for what systems and versioning put into every folder, which is nobody's content. */
export const readContent = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.') && name !== 'lost+found') : [];
