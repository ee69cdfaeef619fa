import { builtinModules } from 'node:module';

// The import rule: strangers' repositories go in at one end, whole files come out at the other, and nothing imports
// against that direction. One row per room: what it may import besides itself and Node's own modules.
const rooms = {
  'clients/typescript': { packages: [] },
  'src/contract': { packages: ['zod', 'js-yaml'] },
  'src/log': {},
  'src/disk': { packages: [] },
  'src/apt': { rooms: ['src/contract'], packages: ['node-liblzma'] },
  'src/compatibility': { rooms: ['src/apt'], packages: [] },
  'src/net': { rooms: ['src/contract'], packages: ['undici'] },
  'src/depictions': { rooms: ['src/apt', 'src/contract'], packages: ['zod'] },
  'src/snapshots': { rooms: ['src/disk', 'src/depictions', 'src/contract'] },
  'src/crawl': { rooms: ['src/apt', 'src/net', 'src/snapshots', 'src/depictions', 'src/contract'] },
  'src/catalog': { rooms: ['src/disk', 'src/apt', 'src/compatibility', 'src/snapshots', 'src/contract'] },
  'src/dependencies': { rooms: ['src/contract', 'src/apt', 'src/compatibility', 'src/catalog'], packages: [] },
  'src/search': { rooms: ['src/contract', 'src/catalog', 'src/compatibility', 'src/dependencies'] },
  'src/safety': { rooms: ['src/contract'] },
  'src/documents': { rooms: ['src/contract', 'src/catalog'] },
  'src/publication': { rooms: ['src/disk', 'src/contract', 'src/catalog', 'src/documents'] },
  'src/hosts': { rooms: ['src/disk', 'src/contract'] },
  'src/following': {
    rooms: ['src/contract', 'src/disk', 'src/apt', 'src/net', 'src/catalog', 'src/documents', 'src/publication'],
  },
  'src/uploading': {
    rooms: ['src/disk', 'src/contract', 'src/net', 'src/publication', 'src/following', 'src/catalog'],
    packages: ['zod', '@smithy/signature-v4'],
  },
  'src/results': { rooms: ['src/contract', 'src/catalog', 'src/compatibility'], packages: [] },
  'src/site': {
    rooms: [
      'src/contract',
      'src/catalog',
      'src/compatibility',
      'src/documents',
      'src/results',
      'src/depictions',
      'src/safety',
      'src/net',
      'src/log',
    ],
  },
  'src/notifying': { rooms: ['src/disk', 'src/contract', 'src/net'], packages: ['zod'] },
  'src/pipeline': {
    rooms: [
      'src/disk',
      'src/notifying',
      'src/net',
      'src/snapshots',
      'src/crawl',
      'src/catalog',
      'src/documents',
      'src/publication',
      'src/site',
      'src/log',
      'src/contract',
    ],
  },
  'src/pages': { rooms: ['src/site', 'src/results', 'src/components', 'src/layouts', 'src/contract'] },
  'src/layouts': { rooms: ['src/site', 'src/components', 'src/contract'] },
  'src/components': { rooms: ['src/site', 'src/results', 'src/contract', 'src/compatibility'] },
  'functions/node': {
    rooms: [
      'functions',
      'src/disk',
      'src/contract',
      'src/catalog',
      'src/search',
      'src/safety',
      'src/net',
      'src/following',
      'src/log',
    ],
  },
  'functions/cloudflare': {
    rooms: ['functions', 'src/contract', 'src/catalog', 'src/search', 'src/safety', 'src/documents'],
    packages: ['hono', 'jose', 'zod'],
  },
  'functions/fetch': { rooms: ['functions', 'src/contract'], packages: [] },
  functions: { rooms: ['src/contract', 'src/catalog', 'src/search', 'src/results', 'src/safety'] },
};

const directions = Object.entries(rooms).map(([room, { rooms: allowed = [] }]) => ({
  name: `${room} imports only ${[...allowed, 'itself'].join(', ')}`,
  severity: 'error',
  // A room inside another has a row of its own.
  from: {
    path: `^${room}/`,
    pathNot: Object.keys(rooms)
      .filter((inner) => inner.startsWith(`${room}/`))
      .map((inner) => `^${inner}/`),
  },
  to: { path: '^(src|functions|scripts|test|clients)/', pathNot: [room, ...allowed].map((name) => `^${name}/`) },
}));

// A room that names its packages may use those alone; the others may use any.
const packages = Object.entries(rooms)
  .filter(([, rule]) => rule.packages)
  .map(([room, rule]) => ({
    name: `${room} uses no package but ${rule.packages.join(', ') || 'none'}`,
    severity: 'error',
    from: { path: `^${room}/` },
    to: { path: '^node_modules/', pathNot: rule.packages.map((name) => `^node_modules/${name}/`) },
  }));

// What any host can run: web standards, and what it is handed. A host brings the rest.
const anyHost = [
  '^functions/(app|dependencies|environment)[.]ts$',
  '^functions/(routes|http|health|downloads|cloudflare)/',
  // The store's statements are for databases that Node drives.
  '^functions/gateway/([^/]+|routes/.+|pages/.+|store/credential-store[.]ts)$',
  '^src/(documents|search|results|compatibility|safety|contract)/',
  '^clients/typescript/',
];

// Commands of those who change the project, who have all of its packages.
const forMaintainers =
  '^scripts/(bench|fuzz|soak|release|images|picture|count-reports|client-types|check-.+)([.]ts$|/)';

export default {
  forbidden: [
    ...directions,
    ...packages,
    {
      name: 'only src/net opens outgoing sockets',
      severity: 'error',
      from: { path: '^(src|functions)/', pathNot: '^src/net/' },
      to: { path: '^node_modules/undici/' },
    },
    {
      name: 'only src/crawl verifies signatures',
      severity: 'error',
      from: { path: '^(src|functions|scripts)/', pathNot: '^src/crawl/openpgp-signature.ts$' },
      to: { path: '^node_modules/openpgp/' },
    },
    {
      name: 'nobody imports scripts or test',
      severity: 'error',
      from: { path: '^(src|functions)/' },
      to: { path: '^(scripts|test)/' },
    },
    {
      name: 'the gateway is entered by its doors',
      severity: 'error',
      from: { path: '^(src|functions|scripts)/', pathNot: '^functions/gateway/' },
      to: {
        path: '^functions/gateway/',
        pathNot: '^functions/gateway/on-(node|workers|object|hyperdrive)[.]ts$',
      },
    },
    {
      name: 'what answers runs on any host: it reaches no module of Node',
      severity: 'error',
      // With a gateway a Worker uses Node's modules of cryptography and sockets, which the platform has.
      from: { path: anyHost, pathNot: '^functions/(gateway/on-.+[.]ts$|cloudflare/with-gateway/)' },
      to: { path: `^(node:.+|${builtinModules.join('|')})$`, reachable: true },
    },
    {
      name: 'what an operator runs needs no package of development',
      severity: 'error',
      from: { path: '^(src|functions|scripts)/', pathNot: forMaintainers },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'type-only'] },
    },
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'what is imported exists',
      severity: 'error',
      from: {},
      // Astro makes the first up while it bundles the pages; the second is the platform's own.
      to: { couldNotResolve: true, pathNot: '^(astro:static-paths|cloudflare:workers)$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
