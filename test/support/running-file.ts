import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { noteFolder } from './hung-files.ts';

// Notes which file this process runs, before that is loaded: who looks after files that hang ends the process of one.
const note = path.join(noteFolder(), String(process.pid));
writeFileSync(`${note}.new`, expect.getState().testPath ?? '');
renameSync(`${note}.new`, note);
