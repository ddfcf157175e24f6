// The layers of docs/internals/architecture.md, from left to right: a folder imports only from its left.
const LAYERS = [
  ['pg-pipeline'],
  ['row-stream'],
  ['common'],
  ['config'],
  ['replication'],
  ['admission'],
  ['http'],
  ['database'],
  ['infra'],
  ['install'],
  ['provisioning'],
  ['servers'],
  ['projects'],
  ['limits'],
  ['access'],
  ['identity'],
  ['staff'],
  ['auth', 'rest', 'storage'],
  ['scim', 'visible-schema'],
  ['changes'],
  ['realtime'],
  ['copies'],
  ['backup', 'traffic', 'sql'],
  ['migrations', 'move', 'advisor', 'webhooks'],
  ['install/http', 'servers/http', 'projects/http', 'admin', 'doctor', 'health', 'api-docs', 'console-host'],
  ['type-generation'],
  ['bootstrap', 'cli'],
];

// The HTTP interface of these is for people, so it is further right than the services that everything uses.
const LOW_FEATURES = ['install', 'servers', 'projects'];

const layerRules = LAYERS.flatMap((layer, index) => {
  const right = LAYERS.slice(index + 1).flat();
  return layer.flatMap((folder) => {
    const forbidden = [...right, ...layer.filter((other) => other !== folder)];
    if (forbidden.length === 0) return [];
    return [
      {
        name: `layer-${folder.replace('/', '-')}`,
        comment: `${folder}/ may import only from the folders on its left`,
        severity: 'error',
        from: { path: `^src/${folder}/${LOW_FEATURES.includes(folder) ? '(?!http/)' : ''}` },
        // bootstrap/ builds the app, so it alone may import the module where all meet.
        to: {
          path: `^src/((${forbidden.join('|')})/|${folder === 'bootstrap' ? '' : 'app\\.module|'}main\\.ts|cli\\.ts)`,
        },
      },
    ];
  });
});

// The rooms of src/auth, from left to right: a room imports only from its left.
const AUTH_ROOMS = [
  'audit',
  'accounts',
  'hooks',
  'mail',
  'passwords',
  'sessions',
  'factors',
  'phones',
  'codes',
  'providers',
  'directories',
  'passkeys',
  'admin',
  'views',
  'http',
];

const authRules = AUTH_ROOMS.slice(0, -1).map((room, index) => ({
  name: `auth-room-${room}`,
  comment: `auth/${room}/ may import only from the rooms on its left`,
  severity: 'error',
  from: { path: `^src/auth/${room}/` },
  to: { path: `^src/auth/((${AUTH_ROOMS.slice(index + 1).join('|')})/|auth\\.module\\.ts)` },
}));

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-index-files',
      severity: 'error',
      from: {},
      to: { path: '^src/.*/index\\.ts$', pathNot: '^src/pg-pipeline/index\\.ts$' },
    },
    {
      name: 'pg-pipeline-is-a-library',
      comment: 'it could be published as it is',
      severity: 'error',
      from: { path: '^src/pg-pipeline/' },
      to: { path: '^(src|test|migrations)/', pathNot: '^src/pg-pipeline/' },
    },
    {
      name: 'pg-pipeline-through-its-index',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/pg-pipeline/' },
      to: { path: '^src/pg-pipeline/', pathNot: '^src/pg-pipeline/index\\.ts$' },
    },
    ...layerRules,
    ...authRules,
    {
      name: 'auth-errors-know-no-room',
      severity: 'error',
      from: { path: '^src/auth/auth\\.errors\\.ts$' },
      to: { path: '^src/auth/' },
    },
    {
      name: 'common-is-pure',
      comment:
        'sockets and Nest classes belong to src/http; a turn of the event loop and a cache in memory are no I/O',
      severity: 'error',
      from: { path: '^src/common/' },
      to: {
        pathNot: '^src/common/|^node_modules/lru-cache/|^(node:)?timers/promises$',
      },
    },
    {
      name: 'services-do-not-know-http',
      severity: 'error',
      from: { path: '^src/([^/]+)/(?!http/)', pathNot: '(\\.module\\.ts$|^src/bootstrap/)' },
      to: { path: '^src/$1/http/' },
    },
    {
      name: 'grammar-body-and-plan-are-pure',
      severity: 'error',
      from: { path: '^src/rest/(grammar|body|plan)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(src/(database|infra|projects|access)/|node_modules/(@nestjs|typeorm|pg)/)' },
    },
    {
      name: 'typeorm-only-where-sql-lives',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot:
          '(^src/database/|\\.repository\\.ts$|\\.entity\\.ts$|^src/rest/compile/|\\.spec\\.ts$|^src/provisioning/)',
      },
      to: { path: '^node_modules/typeorm/' },
    },
    {
      name: 'storage-sdks-only-where-they-are-used',
      comment: 'loading one costs memory and time, which an install on disk must not pay',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/storage/(providers/(gcs|s3)-|http/s3/checksums)' },
      to: { path: '^node_modules/(@aws-sdk|@google-cloud)/' },
    },
    {
      name: 'storage-sdks-are-loaded-by-configuration',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/storage/providers/(gcs|s3)-' },
      to: {
        path: '^src/storage/providers/(gcs|s3)-',
        dependencyTypesNot: ['type-only', 'require'],
      },
    },
    {
      name: 'opentelemetry-is-loaded-by-configuration',
      comment: 'without a collector, nothing of it is loaded',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/traffic/tracing/trace-exporter' },
      to: {
        path: '^(node_modules/@opentelemetry/|src/traffic/tracing/trace-exporter)',
        dependencyTypesNot: ['type-only', 'require'],
      },
    },
    {
      name: 'only-config-reads-the-environment',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(config/|main\\.ts|cli\\.ts)' },
      to: { path: '^(node:)?process$' },
    },
    {
      name: 'console-layers',
      comment: 'calls, queries and pure code of the console know no component',
      severity: 'error',
      from: { path: '^console/src/(api|i18n|lib|queries)/' },
      to: { path: '^console/src/(ui|screens|router)' },
    },
    {
      name: 'console-parts-know-no-screen',
      severity: 'error',
      from: { path: '^console/src/ui/' },
      to: { path: '^console/src/(screens|router)', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'console-screens-are-apart',
      comment: 'each is loaded when it is opened',
      severity: 'error',
      from: { path: '^console/src/screens/([^/]+)/' },
      to: { path: '^console/src/screens/', pathNot: '^console/src/screens/$1/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
  },
};
