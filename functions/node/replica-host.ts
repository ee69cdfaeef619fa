import { fileURLToPath } from 'node:url';
import { LockedError } from '../../src/catalog/lock.ts';
import { makeFolder } from '../../src/disk/make-folder.ts';
import { describeOtherList } from '../../src/safety/other-list.ts';
import { createApp } from '../app.ts';
import { type Dependencies, Unavailable } from '../dependencies.ts';
import { createLargeAnswers } from '../http/large-answers.ts';
import { uncountedDownloads } from '../http/uncounted-downloads.ts';
import { createQuestions } from '../questions.ts';
import { documentMemory, openCompressedFiles, openComputed, openDownloads } from './computed.ts';
import { CannotServe, type Host, type HostOptions } from './host-options.ts';
import { listen } from './listen.ts';
import { measureBy } from './measure-questions.ts';
import { Meter } from './meter.ts';
import { type ReplicaSource, startReplica } from './replica.ts';
import { NothingTaken, type ReplicaIndex } from './replica-index.ts';
import { createTelling } from './telling.ts';

/** The settings of the host of a replica. */
export interface ReplicaHostOptions extends HostOptions {
  readonly replica: ReplicaSource;
  /** Whether this host counts the downloads that are reported to it. */
  readonly countDownloads: boolean;
}

/** How many published hosts are looked up in the list of this server: more than any list has, in a tenth of a second. */
const mostCompared = 1000;

/**
 * Serves a replica of a publication, and follows each new generation. Throws CannotServe if another replica uses the
 * folder or it cannot listen on the address, and SafetyListInvalid.
 */
export const startReplicaHost = async (options: ReplicaHostOptions): Promise<Host> => {
  const { state } = options;
  makeFolder(state);
  const meter = new Meter();
  const telling = createTelling(options.log, meter);
  const { report, tell } = telling;
  const computed = openComputed(options, { report, tell });
  const downloads = options.countDownloads ? openDownloads(options, { tell }) : undefined;
  let forget = () => {};
  let toldList: string | undefined;
  const tellOtherList = (index: ReplicaIndex): void => {
    const others = 'the publication. Give the server the safety.yaml of its builder, in the folder of --data.';
    const list = fileURLToPath(options.safetyList);
    const sentence = describeOtherList(index.unsafeHosts(mostCompared), computed.safety, list, others);
    if (sentence !== undefined && sentence !== toldList) options.log.warn('other-safety-list', sentence);
    toldList = sentence;
  };
  const replica = await startReplica({
    source: options.replica,
    state,
    compressed: openCompressedFiles(state, { report }),
    memory: documentMemory,
    now: computed.now,
    measure: measureBy(meter),
    tell,
    report,
    onChange: (index) => {
      forget();
      tellOtherList(index);
    },
  }).catch(async (error: unknown) => {
    computed.safety.close();
    await downloads?.close();
    throw error instanceof LockedError ? new CannotServe(error.message) : error;
  });
  const { index } = replica;
  const closeOpened = async (): Promise<void> => {
    await Promise.all([replica.close(), downloads?.close()]);
    computed.safety.close();
  };
  const dependencies: Dependencies = {
    ...computed,
    report: (error, note) => {
      const cause = error instanceof Unavailable ? error.cause : undefined;
      if (!(error instanceof NothingTaken || cause instanceof NothingTaken)) report(error, note);
    },
    documents: index,
    search: index,
    older: options.olderAddresses ? index.older : undefined,
    downloads: downloads ?? uncountedDownloads,
    // A replica has no sign-ins.
    probeCredentials: async () => true,
    publicAddress: () => index.publicAddress(),
    replica: () => index.describe(),
  };
  const makeAnswer = createLargeAnswers();
  const listening = await listen(options, {
    app: createApp(dependencies, makeAnswer),
    questions: createQuestions(dependencies, makeAnswer),
    now: computed.now,
    limiter: computed.limiter,
    publicAddress: () => index.publicAddress(),
    meter,
    telling,
    published: async () => {
      const { generation: number, published: date, confirmed } = index.describe();
      return {
        ...(number === null || date === null ? {} : { generation: { number, date } }),
        confirmed: confirmed ?? undefined,
      };
    },
    stamp: null,
    closeOpened,
  });
  forget = listening.forget;
  return listening;
};
