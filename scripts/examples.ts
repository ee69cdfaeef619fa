import { writeFileSync } from 'node:fs';
import { collectExamples } from './examples/collect.ts';
import { examplesFile } from './examples/examples.ts';

// Writes the examples of the API's description anew: run it after a change to the sample or to what is answered.
writeFileSync(examplesFile, `${JSON.stringify(await collectExamples(), null, 2)}\n`);
