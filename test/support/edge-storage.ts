import { globSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Changes the database of each object of a class in the storage folder of a runtime that has ended. */
export const changeObjects = (storage: string, className: string, change: (database: DatabaseSync) => void): void => {
  // The platform keeps its own table in a file beside them.
  const files = globSync(`**/*-${className}/*.sqlite`, { cwd: storage }).filter((file) => !file.includes('metadata'));
  if (files.length === 0) throw new Error(`there is no object of ${className} in ${storage}`);
  for (const file of files) {
    const database = new DatabaseSync(path.join(storage, file));
    try {
      // An object whose first event was cut off has an empty database.
      if (database.prepare('SELECT 1 FROM sqlite_master').get() !== undefined) change(database);
    } finally {
      database.close();
    }
  }
};
