import path from 'node:path';

/** Where a Worker finds the publication: deployed with it, in an R2 bucket, or elsewhere on the web. */
export type EdgePublication =
  | { readonly kind: 'assets'; readonly folder: string }
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'address'; readonly address: string };

/** Parses where the publication is: a folder, `r2://bucket/prefix`, or an address. Undefined if it is none of these. */
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

/** What keeps the sign-ins of a Worker. Without it the Worker has no gateway. */
export type EdgeGateway =
  | { readonly kind: 'off' }
  | { readonly kind: 'object'; readonly publicAddress: string }
  | { readonly kind: 'hyperdrive'; readonly id: string; readonly publicAddress: string };

/**
 * Parses what keeps the sign-ins: `off`, `object`, or `hyperdrive:` and the identifier of a Hyperdrive configuration,
 * with the address under which clients reach the Worker. Returns a sentence if that is wrong.
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

/** The runtime behaves as on this day. The tests run against it. */
export const compatibilityDate = '2026-07-01';

/**
 * Processor time of one event, in milliseconds. One event has to optimise an index of Debian's size (docs, "Limits": 30
 * s by default, five minutes at most).
 */
const cpuMilliseconds = 300_000;

interface SettingsInput {
  readonly publication: EdgePublication;
  readonly publicKey?: string | undefined;
  readonly name: string;
  readonly gateway: EdgeGateway;
}

/** The bindings of the publication. */
const bindings = (publication: EdgePublication, folder: string) => {
  if (publication.kind === 'assets') {
    return {
      assets: {
        directory: path.relative(folder, path.resolve(publication.folder)).split(path.sep).join('/'),
        binding: 'ASSETS',
        // The Worker decides which file answers an address, as on other hosts.
        html_handling: 'none',
        not_found_handling: 'none',
        run_worker_first: true,
      },
    };
  }
  if (publication.kind === 'bucket') return { r2_buckets: [{ binding: 'BUCKET', bucket_name: publication.bucket }] };
  return {};
};

/**
 * The bindings of the objects and of the gateway. Migrations may only be appended, because deployed Workers have run
 * the existing ones.
 */
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
          // Deletes what has expired.
          triggers: { crons: ['*/10 * * * *'] },
        }
      : {}),
    durable_objects: { bindings: always },
    migrations: first,
  };
};

/** The module that the platform starts, below the Worker's folder, and the folder of the other modules. */
export const workerModule = 'worker.js';
export const otherModules = 'modules';

/** The configuration of Cloudflare's tool for a Worker in this folder: wrangler.jsonc. */
export const wranglerSettings = ({ publication, publicKey, name, gateway }: SettingsInput, folder: string): string => {
  const settings = {
    $schema: 'https://www.unpkg.com/wrangler@4/config-schema.json',
    name,
    main: workerModule,
    // It is already bundled; its other modules are beside it.
    no_bundle: true,
    rules: [{ type: 'ESModule', globs: [`${otherModules}/*.js`] }],
    compatibility_date: compatibilityDate,
    workers_dev: true,
    limits: { cpu_ms: cpuMilliseconds },
    // Only our own log lines: those of the platform contain all headers of each request, and so the address of every
    // visitor.
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
      // Each replica would count only a part.
      COUNT_DOWNLOADS: publication.kind === 'address' ? 'off' : 'on',
    },
  };
  return `// Written by npm run bundle -- cloudflare; see deploy/cloudflare/README.md.\n${JSON.stringify(settings, null, 2)}\n`;
};
