import { type DownloadCounters, Unavailable } from '../dependencies.ts';
import type { DownloadsStub } from './downloads-stub.ts';

const asked = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (cause) {
    throw new Unavailable('The object that counts downloads does not answer', { cause });
  }
};

/** Download counters that a Durable Object keeps. */
export const remoteDownloads = (stub: () => DownloadsStub): DownloadCounters => ({
  add: (downloads, network) => asked(stub().add({ network, downloads })),
  read: (id) => asked(stub().read(id)),
  probe: () => asked(stub().probe()),
});
