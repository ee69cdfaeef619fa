import path from 'node:path';

/** Where a Worker finds the publication: deployed with it, in a bucket of R2, or elsewhere on the web. */
export type EdgePublication =
  | { readonly kind: 'assets'; readonly folder: string }
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'address'; readonly address: string };

/**
 * Reads where the publication is, as the command line says: a folder, `r2://bucket/prefix`, or an address. Undefined where
 * it is none of these.
 */
export const readEdgePublication = (text: string): EdgePublication | undefined => {
  const [, bucket, prefix = ''] = /^r2:\/\/([a-z0-9][a-z0-9-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket !== undefined) return { kind: 'bucket', bucket, prefix: prefix.replace(/\/+$/, '') };
  if (/^https?:\/\//.test(text)) {
    const url = URL.parse(text);
    if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') return undefined;
    return { kind: 'address', address: url.href.replace(/\/+$/, '') };
  }
  return text.includes('://') ? undefined : { kind: 'assets', folder: text };
};

/** What keeps the sign-ins of a Worker; none: it has no gateway. */
export type EdgeGateway =
  | { readonly kind: 'off' }
  | { readonly kind: 'object'; readonly publicAddress: string }
  | { readonly kind: 'hyperdrive'; readonly id: string; readonly publicAddress: string };

/**
 * Reads what keeps sign-ins, as the command line says: `off`, `object`, or `hyperdrive:` and the identifier of a
 * configuration of Hyperdrive, with the address under which clients reach the Worker. A sentence where that is wrong.
 */
export const readEdgeGateway = (text: string, publicAddress: string | undefined): EdgeGateway | string => {
  const [, hyperdrive] = /^hyperdrive:([0-9a-f]{32})$/.exec(text) ?? [];
  if (text === 'off') return { kind: 'off' };
  if (text !== 'object' && hyperdrive === undefined) {
    return `--gateway must be off, object, or hyperdrive: and the 32 digits of a configuration, not "${text}"`;
  }
  const url = URL.parse(publicAddress ?? '');
  if (url?.protocol !== 'https:' || url.href !== `${url.origin}/`) {
    return 'A gateway needs --base-url, the address under which clients reach the Worker, such as https://index.example.org';
  }
  return {
    publicAddress: url.origin,
    ...(hyperdrive === undefined ? { kind: 'object' } : { kind: 'hyperdrive', id: hyperdrive }),
  };
};

/** The day of the runtime whose behaviour is asked for: the tests run against it. */
export const compatibilityDate = '2026-07-01';

/** Processor time of one event, in milliseconds: an index of Debian's size is put in order in one (docs, "Limits": 30 s, or up to five minutes where asked for). */
const cpuMilliseconds = 300_000;

interface SettingsInput {
  readonly publication: EdgePublication;
  readonly publicKey?: string | undefined;
  readonly name: string;
  readonly gateway: EdgeGateway;
}

/** What binds the publication. */
const bindings = (publication: EdgePublication, folder: string) => {
  if (publication.kind === 'assets') {
    return {
      assets: {
        directory: path.relative(folder, path.resolve(publication.folder)).split(path.sep).join('/'),
        binding: 'ASSETS',
        // Every address is answered as on other hosts, with its headers; the Worker knows which file that is.
        html_handling: 'none',
        not_found_handling: 'none',
        run_worker_first: true,
      },
    };
  }
  if (publication.kind === 'bucket') return { r2_buckets: [{ binding: 'BUCKET', bucket_name: publication.bucket }] };
  return {};
};

/** What binds the objects, and the gateway. Migrations are only ever added to: what was deployed has had the ones before. */
const objectBindings = (gateway: EdgeGateway) => {
  const always = [
    { name: 'CATALOG', class_name: 'CatalogObject' },
    { name: 'DOWNLOADS', class_name: 'DownloadsObject' },
  ];
  const first = [
    { tag: 'v1', new_sqlite_classes: ['CatalogObject'] },
    { tag: 'v2', new_sqlite_classes: ['DownloadsObject'] },
  ];
  if (gateway.kind === 'object') {
    return {
      compatibility_flags: ['nodejs_compat'],
      durable_objects: { bindings: [...always, { name: 'CREDENTIALS', class_name: 'GatewayObject' }] },
      migrations: [...first, { tag: 'v3', new_sqlite_classes: ['GatewayObject'] }],
    };
  }
  return {
    ...(gateway.kind === 'hyperdrive'
      ? {
          compatibility_flags: ['nodejs_compat'],
          hyperdrive: [{ binding: 'HYPERDRIVE', id: gateway.id }],
          // What is over is deleted then.
          triggers: { crons: ['*/10 * * * *'] },
        }
      : {}),
    durable_objects: { bindings: always },
    migrations: first,
  };
};

/** The module that the platform starts, below the folder of the Worker, and the folder of the others. */
export const workerModule = 'worker.js';
export const otherModules = 'modules';

/** The configuration of Cloudflare's tool, for a Worker in this folder: wrangler.jsonc. */
export const wranglerSettings = ({ publication, publicKey, name, gateway }: SettingsInput, folder: string): string => {
  const settings = {
    $schema: 'https://www.unpkg.com/wrangler@4/config-schema.json',
    name,
    main: workerModule,
    // It is bundled already; its other modules lie beside it.
    no_bundle: true,
    rules: [{ type: 'ESModule', globs: [`${otherModules}/*.js`] }],
    compatibility_date: compatibilityDate,
    workers_dev: true,
    limits: { cpu_ms: cpuMilliseconds },
    // Lines of our own: those of the platform for each request have all of its headers, and so the address of every visitor.
    observability: { enabled: true, logs: { enabled: true, invocation_logs: false } },
    ...objectBindings(gateway),
    ...bindings(publication, folder),
    vars: {
      ...(publication.kind === 'address' ? { PUBLICATION: publication.address } : {}),
      ...(publication.kind === 'bucket' && publication.prefix !== '' ? { PREFIX: publication.prefix } : {}),
      ...(publicKey === undefined ? {} : { PUBLIC_KEY: publicKey }),
      ...(gateway.kind === 'off' ? {} : { PUBLIC_ADDRESS: gateway.publicAddress }),
      INTERVAL: '60',
      RATE_LIMIT: '20',
      OLDER_ADDRESSES: 'on',
      // Each replica would count a part.
      COUNT_DOWNLOADS: publication.kind === 'address' ? 'off' : 'on',
    },
  };
  return `// Written by npm run bundle -- cloudflare; see deploy/cloudflare/README.md.\n${JSON.stringify(settings, null, 2)}\n`;
};
