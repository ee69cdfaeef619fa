import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { changeListSchema, generationPath, generationSchema } from '../../src/contract/generation.ts';
import { bucket, storeCredentials } from '../support/object-store.ts';
import { type Built, builtCorpus, builtLarge, runBuild } from './builds.ts';
import { npmScript, runNode, startProcess } from './processes.ts';
import { count, type Figure, megabytes, seconds } from './report.ts';
import { startSmallRepository } from './small-repository.ts';
import { median } from './statistics.ts';
import { takeFigures } from './take-figures.ts';
import { type Part, tell, type Workshop } from './workshop.ts';

const repeats = 3;

interface Sent {
  readonly objects: number;
  readonly megabytes: number;
  readonly seconds: number;
}

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1]?.replaceAll(',', ''));

/** Uploads in a process of its own, as the command does. */
const runUpload = async (out: string, destination: string, flags: readonly string[] = []): Promise<Sent> => {
  const run = await runNode([...npmScript('upload'), destination, '--out', out, ...flags]);
  return {
    objects: numberIn(run.stdout, /: ([\d,]+) objects? sent/),
    megabytes: numberIn(run.stdout, /\(([\d,.]+) MB\)/),
    seconds: run.seconds,
  };
};

const readOut = (out: string, file: string): unknown => JSON.parse(readFileSync(path.join(out, file), 'utf8'));

/** The fewest bytes that an upload of a generation has to send: its changed documents and its catalog. */
const leastOf = (out: string): number => {
  const { catalog, changes } = generationSchema.parse(readOut(out, generationPath.current));
  const { documents } = changeListSchema.parse(readOut(out, changes));
  const sizes = documents.written.map((file) => statSync(path.join(out, file)).size);
  return 3 * sizes.reduce((sum, size) => sum + size, 0) + catalog.compressed_size;
};

const measureFolder = async (workshop: Workshop, built: Built): Promise<Figure[]> => {
  const input = built.input.name;
  const destination = workshop.path('uploaded');
  const small = await startSmallRepository(workshop);
  const manifest = workshop.path('with-small-uploaded.json');
  writeFileSync(
    manifest,
    JSON.stringify([...(JSON.parse(readFileSync(built.input.manifest, 'utf8')) as []), small.entry]),
  );
  const build = () => runBuild(manifest, built.state, built.out);
  await build();
  tell(`upload to a folder, first time: ${input}`);
  const first = await runUpload(built.out, destination);
  const changed: Sent[] = [];
  let least = 0;
  for (let round = 0; round < repeats; round++) {
    tell(`upload to a folder, one package changed, ${round + 1} of ${repeats}`);
    small.change();
    await build();
    changed.push(await runUpload(built.out, destination));
    least = leastOf(built.out);
  }
  const unchanged = await runUpload(built.out, destination);
  await runBuild(built.input.manifest, built.state, built.out);
  const took = median(changed.map((sent) => sent.seconds));
  const bytes = Math.max(...changed.map((sent) => sent.megabytes)) * 1e6;
  const all = changed.map((sent) => sent.seconds.toFixed(2)).join(', ');
  return [
    {
      figure: 'upload to a folder, first time',
      input,
      measured: `${count(first.objects)} files in ${seconds(first.seconds)}`,
    },
    { figure: 'upload to a folder, nothing changed', input, measured: seconds(unchanged.seconds) },
    {
      figure: 'upload to a folder, one package changed',
      input,
      measured: `${seconds(took)} (${all}) beyond the build`,
      target: '≤ 1.2 s',
      met: took <= 1.2,
    },
    {
      figure: 'bytes it sends',
      input,
      measured: `${megabytes(bytes)} (${(bytes / 1e6).toFixed(2)})`,
      target: `≤ ${(least / 1e6).toFixed(2)} MB: 3 times the changed documents, and the catalog`,
      met: bytes <= least,
    },
  ];
};

const startStore = async (workshop: Workshop, script: string, args: readonly string[]): Promise<string> => {
  const store = await startProcess(process.execPath, [workshop.script(script), ...args], /^Listening on /);
  workshop.atEnd(() => store.stop());
  return `http://127.0.0.1:${store.line.replace('Listening on ', '')}`;
};

const measureStore = async (built: Built, endpoint: string, name: string, target?: number): Promise<Figure[]> => {
  const { input, out } = built;
  tell(`upload to ${name}, first time: ${input.name}`);
  const sent = await runUpload(out, `s3://${bucket}/site`, ['--endpoint', endpoint]);
  tell(`the libraries alone, to ${name}`);
  const bare = await runNode([path.join(import.meta.dirname, 'bare-upload.ts'), endpoint, out, bucket]);
  const bareRate = numberIn(bare.stdout, /^(\d+) objects/) / numberIn(bare.stdout, / in ([\d.]+) s/);
  const rate = sent.objects / sent.seconds;
  const figure = `upload to ${name}, first time`;
  const measured = `${count(rate)} objects a second (${count(sent.objects)} in ${seconds(sent.seconds)})`;
  return [
    {
      ...{ figure, input: input.name, measured },
      ...(target === undefined ? {} : { target: `≥ ${count(target)} objects a second`, met: rate >= target }),
    },
    {
      figure: 'the libraries alone, with the same server',
      input: input.name,
      measured: `${count(bareRate)} objects a second; the upload reaches ${(rate / bareRate).toFixed(2)} of that`,
    },
  ];
};

/** The cost of bringing a publication to another place. */
export const uploadPart: Part = {
  summary: 'what an upload takes: to a folder with one package changed, to object storage for the first time',
  run: async (workshop) => {
    Object.assign(process.env, storeCredentials);
    return takeFigures([
      async () => {
        const store = await startStore(workshop, 'store-process.ts', [workshop.path('objects')]);
        return measureStore(await builtCorpus(workshop), store, 'an S3 server');
      },
      async () => {
        const large = await builtLarge(workshop);
        const store = await startStore(workshop, 'memory-store.ts', []);
        const toStore = await measureStore(large, store, 'a store in memory', 2000);
        return [...toStore, ...(await measureFolder(workshop, large))];
      },
    ]);
  },
};
