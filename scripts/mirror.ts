import { LockedError } from '../src/catalog/lock.ts';
import { fullDiskCodes } from '../src/disk/room.ts';
import { FolderTaken, mirror } from '../src/following/mirror.ts';
import { PublicationSource, SourceError } from '../src/following/source.ts';
import { createSourceFetcher } from '../src/following/source-fetcher.ts';
import { NetworkError } from '../src/net/network-error.ts';
import { Progress } from '../src/pipeline/progress.ts';
import { NoFolder } from '../src/publication/folder-content.ts';
import { aloneEndings, exitCodes } from './exit-codes.ts';
import { letEverybodyRead } from './for-everybody.ts';
import { CommandFailure, proxyVariables, runCommand } from './options.ts';
import { assertPublication, assertPublicKey } from './publication-options.ts';
import { readProxyOptions } from './read-proxies.ts';

const command = {
  name: 'mirror',
  summary:
    'Updates a folder to what is published at URL, and fetches only what changed since the last time. The folder is a\n' +
    'publication itself, for a static host, an upload or another mirror. Run it as often as you like.',
  operand: 'URL DIR',
  options: {
    'public-key': {
      type: 'string',
      value: 'KEY',
      help: 'Accept only what is signed by this key, which the landing document of the publication names.',
    },
    concurrency: {
      type: 'integer',
      value: 'N',
      default: 16,
      minimum: 1,
      maximum: 256,
      environment: 'DEBDEX_MIRROR_CONCURRENCY',
      help: 'Files fetched at once.',
    },
  },
  variables: [proxyVariables],
  endings: aloneEndings('could not be brought up to date', 'another mirror into the same folder is under way'),
} as const;

const words = {
  none: 'is up to date',
  changes: 'was brought up to date by its change lists',
  inventory: 'was brought up to date by its inventory',
} as const;

const isDiskFull = (error: unknown): boolean => fullDiskCodes.has((error as NodeJS.ErrnoException).code ?? '');

await runCommand(command, async (values, [url, folder]) => {
  const key = values['public-key'];
  assertPublication('URL', url);
  assertPublicKey(key);
  letEverybodyRead();
  const fetcher = createSourceFetcher(url, {
    userAgent: 'Debdex-mirror',
    proxies: readProxyOptions(),
    connections: values.concurrency,
  });
  const progress = new Progress();
  const source = new PublicationSource(url, fetcher, key);
  try {
    const { generation, by, fetched, removed } = await progress.step('mirror', () =>
      mirror({
        source,
        folder,
        concurrency: values.concurrency,
        onProgress: (done, total) => progress.update(done, total, 'files'),
        onRetry: (reason) => progress.retry(reason),
      }),
    );
    process.stdout.write(
      `${folder} ${words[by]}: generation ${generation.number} of ${generation.date}; ${fetched} files taken, ${removed} removed.\n`,
    );
  } catch (error) {
    if (error instanceof SourceError || error instanceof FolderTaken || error instanceof NoFolder)
      throw new CommandFailure(error.message);
    if (error instanceof LockedError) throw new CommandFailure(error.message, exitCodes.busy);
    if (isDiskFull(error)) {
      throw new CommandFailure(
        `There is no more room in ${folder} (the disk is full, has no inodes left, or a quota is met): make room and run this again. What was in force there still is.`,
        exitCodes.nothingUsable,
        { cause: error },
      );
    }
    if (error instanceof NetworkError) throw new CommandFailure(`${url} could not be read: ${error.message}`);
    throw error;
  } finally {
    await fetcher.close();
  }
});
