import type { CatalogStub } from './catalog-stub.ts';
import { type DownloadsStub, downloadsName } from './downloads-stub.ts';
import type { Bucket, Fetching, ObjectNamespace } from './platform.ts';
import { bucketFiles, deployedFiles, type PublishedFiles, remoteFiles } from './published-files.ts';

/** What the configuration of the Worker binds; see deploy/cloudflare/README.md. */
export interface Environment {
  readonly CATALOG: ObjectNamespace<CatalogStub>;
  readonly DOWNLOADS?: ObjectNamespace<DownloadsStub>;
  /** One of these three says where the publication is. */
  readonly ASSETS?: Fetching;
  readonly BUCKET?: Bucket;
  readonly PUBLICATION?: string;
  /** The folder of the bucket. */
  readonly PREFIX?: string;
  /** If set, only generations signed by this key are taken (Ed25519, base64url). */
  readonly PUBLIC_KEY?: string;
  /** Seconds between two checks for a new generation. */
  readonly INTERVAL?: string;
  /** Computed answers a second for each client, on average; 0 for any number. */
  readonly RATE_LIMIT?: string;
  /** "on" or "off": whether addresses from before /v2 are answered. On by default. */
  readonly OLDER_ADDRESSES?: string;
  /**
   * "on" or "off": whether downloads are counted. By default they are if the publication belongs to the Worker, and not
   * if the Worker is a replica of one at an address.
   */
  readonly COUNT_DOWNLOADS?: string;
  /** The operator's key, with which a build asks for the download counts. Without one, nobody is told. A secret. */
  readonly OPERATOR_KEY?: string;
}

/** The settings of a Worker, read. */
export interface Settings {
  readonly files: PublishedFiles;
  /**
   * Whether pages and documents are those files. If not, documents are made from the catalog, and there are no pages.
   */
  readonly hasPages: boolean;
  readonly publicKey: string | undefined;
  /** Milliseconds. */
  readonly interval: number;
  readonly rate: number;
  readonly olderAddresses: boolean;
  /** Counts downloads; undefined if they are not counted. */
  readonly downloads: (() => DownloadsStub) | undefined;
}

const readNumber = (name: string, text: string | undefined, usual: number, least: number): number => {
  if (text === undefined || text === '') return usual;
  const number = Number(text);
  if (!Number.isFinite(number) || number < least)
    throw new TypeError(`${name} must be a number of at least ${least}, not "${text}"`);
  return number;
};

// A variable may be any JSON value; `false` is a value that was set, not a missing one.
const readSwitch = (name: string, said: string | undefined, usual: 'on' | 'off'): boolean => {
  const text = said === undefined || said === '' ? usual : said;
  if (text !== 'on' && text !== 'off') throw new TypeError(`${name} must be on or off, not "${text}"`);
  return text === 'on';
};

const downloadsOf = ({ DOWNLOADS, COUNT_DOWNLOADS, PUBLICATION }: Environment): Settings['downloads'] => {
  const counts = readSwitch('COUNT_DOWNLOADS', COUNT_DOWNLOADS, PUBLICATION ? 'off' : 'on');
  return counts && DOWNLOADS ? () => DOWNLOADS.getByName(downloadsName) : undefined;
};

/**
 * Trims a key: the line end of the file that it was uploaded from is no part of it. A variable may be any JSON value.
 */
const readKey = (put: string | undefined): string | undefined => String(put ?? '').trim() || undefined;

/** The key of the operator. */
export const operatorKeyOf = ({ OPERATOR_KEY }: Pick<Environment, 'OPERATOR_KEY'>): string | undefined =>
  readKey(OPERATOR_KEY);

/** Reads what the configuration says. Throws a TypeError whose message says what to write. */
export const readSettings = (environment: Environment): Settings => {
  const { ASSETS, BUCKET, PUBLICATION, PREFIX = '', PUBLIC_KEY } = environment;
  const named = [ASSETS, BUCKET, PUBLICATION || undefined].filter((one) => one !== undefined);
  if (named.length !== 1) {
    throw new TypeError(
      'One of the assets (ASSETS), a bucket (BUCKET) and an address (PUBLICATION) must say where the publication is, and no other',
    );
  }
  const folder = PREFIX.replace(/\/*$/, PREFIX === '' ? '' : '/');
  const files = ASSETS ? deployedFiles(ASSETS) : BUCKET ? bucketFiles(BUCKET, folder) : remoteFiles(PUBLICATION ?? '');
  return {
    files,
    hasPages: !PUBLICATION,
    publicKey: readKey(PUBLIC_KEY),
    interval: 1000 * readNumber('INTERVAL', environment.INTERVAL, 60, 1),
    rate: readNumber('RATE_LIMIT', environment.RATE_LIMIT, 20, 0),
    olderAddresses: readSwitch('OLDER_ADDRESSES', environment.OLDER_ADDRESSES, 'on'),
    downloads: downloadsOf(environment),
  };
};
