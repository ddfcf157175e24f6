/**
 * The policy matrix of storage as data: for each set of policies, the status that each operation returns to each role.
 * policy-matrix.e2e-spec.ts applies the policies and sends the requests.
 */

/** `owner` owns the file, `bucketOwner` the bucket that it is in, `other` neither. */
export const ROLES = ['anon', 'owner', 'bucketOwner', 'other', 'service'] as const;
export type Role = (typeof ROLES)[number];

/** Each operation with the operation of the OpenAPI document that it calls. */
export const OPERATION_IDS = {
  'create bucket': 'createBucket',
  'see bucket': 'getBucket',
  'find bucket in list': 'listBuckets',
  'change bucket': 'updateBucket',
  'delete bucket': 'deleteBucket',
  list: 'listFiles',
  folders: 'listFolders',
  'find in list': 'listFiles',
  record: 'getFile',
  download: 'downloadFile',
  preview: 'previewFile',
  sign: 'createSignedUrl',
  'bulk sign': 'bulkCreateSignedUrls',
  upload: 'uploadFile',
  rename: 'updateFile',
  move: 'updateFile',
  overwrite: 'uploadFile',
  revoke: 'revokeSignedUrls',
  copy: 'copyFile',
  'copy elsewhere': 'copyFile',
  delete: 'deleteFile',
  'bulk delete': 'bulkDeleteFiles',
} as const;
export type Operation = keyof typeof OPERATION_IDS;

/** Statuses in the order of ROLES. */
type Statuses = readonly [anon: number, owner: number, bucketOwner: number, other: number, service: number];

export interface PolicySet {
  readonly title: string;
  /** The bucket: public or private, with an owner or (a project bucket) without one. */
  readonly isPublic: boolean;
  readonly isOwned: boolean;
  /** SQL that replaces the shipped policies, or empty to keep them. */
  readonly policies: string;
  readonly statuses: Readonly<Record<Operation, Statuses>>;
}

const DROP_ALL = `do $$ declare p record; begin
  for p in select policyname, tablename from pg_policies where schemaname = 'storage' and policyname !~ 'service role' loop
    execute format('drop policy %I on storage.%I', p.policyname, p.tablename);
  end loop; end $$;`;

const POLICY = {
  all: 'using (true)',
  select: 'using (true)',
  insert: 'with check (true)',
  update: 'using (true)',
  delete: 'using (true)',
} as const;

/** Policies that open both tables to every role for these commands only. */
const everyRole = (...commands: (keyof typeof POLICY)[]): string =>
  DROP_ALL +
  commands
    .flatMap((command) =>
      ['buckets', 'files'].map(
        (table) =>
          `create policy "every role may ${command}" on storage.${table} for ${command} ${POLICY[command]};`,
      ),
    )
    .join('');

/** Every role reads, and only the service role writes. Previews need a public bucket under any policy. */
const READABLE: PolicySet['statuses'] = {
  'create bucket': [403, 403, 403, 403, 201],
  'see bucket': [200, 200, 200, 200, 200],
  'find bucket in list': [200, 200, 200, 200, 200],
  'change bucket': [403, 403, 403, 403, 200],
  'delete bucket': [403, 403, 403, 403, 200],
  list: [200, 200, 200, 200, 200],
  folders: [200, 200, 200, 200, 200],
  'find in list': [200, 200, 200, 200, 200],
  record: [200, 200, 200, 200, 200],
  download: [200, 200, 200, 200, 200],
  preview: [404, 404, 404, 404, 404],
  sign: [200, 200, 200, 200, 200],
  'bulk sign': [200, 200, 200, 200, 200],
  upload: [403, 403, 403, 403, 201],
  rename: [403, 403, 403, 403, 200],
  move: [403, 403, 403, 403, 200],
  overwrite: [403, 403, 403, 403, 200],
  revoke: [403, 403, 403, 403, 200],
  copy: [403, 403, 403, 403, 201],
  'copy elsewhere': [403, 403, 403, 403, 201],
  delete: [403, 403, 403, 403, 200],
  'bulk delete': [403, 403, 403, 403, 200],
};

export const POLICY_SETS: readonly PolicySet[] = [
  {
    title: 'as shipped, in a private bucket',
    isPublic: false,
    isOwned: true,
    policies: '',
    statuses: {
      'create bucket': [403, 201, 201, 201, 201],
      'see bucket': [404, 404, 200, 404, 200],
      'find bucket in list': [404, 404, 200, 404, 200],
      'change bucket': [404, 404, 200, 404, 200],
      'delete bucket': [404, 404, 200, 404, 200],
      list: [404, 404, 200, 404, 200],
      folders: [404, 404, 200, 404, 200],
      'find in list': [404, 404, 200, 404, 200],
      record: [404, 200, 200, 404, 200],
      download: [404, 200, 200, 404, 200],
      preview: [404, 404, 404, 404, 404],
      sign: [404, 200, 200, 404, 200],
      'bulk sign': [404, 200, 200, 404, 200],
      upload: [404, 404, 201, 404, 201],
      rename: [404, 403, 200, 404, 200],
      move: [404, 404, 200, 404, 200],
      overwrite: [404, 404, 200, 404, 200],
      revoke: [404, 403, 200, 404, 200],
      copy: [404, 404, 201, 404, 201],
      'copy elsewhere': [404, 404, 201, 404, 201],
      delete: [404, 200, 200, 404, 200],
      'bulk delete': [404, 200, 200, 404, 200],
    },
  },
  {
    title: 'as shipped, in a public bucket',
    isPublic: true,
    isOwned: true,
    policies: '',
    statuses: {
      'create bucket': [403, 201, 201, 201, 201],
      'see bucket': [200, 200, 200, 200, 200],
      'find bucket in list': [200, 200, 200, 200, 200],
      'change bucket': [403, 403, 200, 403, 200],
      'delete bucket': [403, 403, 200, 403, 200],
      list: [200, 200, 200, 200, 200],
      folders: [200, 200, 200, 200, 200],
      'find in list': [200, 200, 200, 200, 200],
      record: [200, 200, 200, 200, 200],
      download: [200, 200, 200, 200, 200],
      preview: [200, 200, 200, 200, 200],
      sign: [200, 200, 200, 200, 200],
      'bulk sign': [200, 200, 200, 200, 200],
      upload: [403, 403, 201, 403, 201],
      rename: [403, 403, 200, 403, 200],
      move: [403, 403, 200, 403, 200],
      overwrite: [403, 403, 200, 403, 200],
      revoke: [403, 403, 200, 403, 200],
      copy: [403, 403, 201, 403, 201],
      'copy elsewhere': [403, 403, 201, 403, 201],
      delete: [403, 200, 200, 403, 200],
      'bulk delete': [403, 200, 200, 403, 200],
    },
  },
  // A project bucket has no owner; every signed-in user can upload, and manages their own files.
  {
    title: 'as shipped, in a project bucket',
    isPublic: false,
    isOwned: false,
    policies: '',
    statuses: {
      'create bucket': [403, 201, 201, 201, 201],
      'see bucket': [404, 200, 200, 200, 200],
      'find bucket in list': [404, 200, 200, 200, 200],
      'change bucket': [404, 403, 403, 403, 200],
      'delete bucket': [404, 403, 403, 403, 200],
      list: [404, 200, 200, 200, 200],
      folders: [404, 200, 200, 200, 200],
      'find in list': [404, 200, 404, 404, 200],
      record: [404, 200, 404, 404, 200],
      download: [404, 200, 404, 404, 200],
      preview: [404, 404, 404, 404, 404],
      sign: [404, 200, 404, 404, 200],
      'bulk sign': [404, 200, 404, 404, 200],
      upload: [404, 201, 201, 201, 201],
      rename: [404, 200, 404, 404, 200],
      move: [404, 200, 404, 404, 200],
      overwrite: [404, 200, 403, 403, 200],
      revoke: [404, 200, 404, 404, 200],
      copy: [404, 201, 404, 404, 201],
      'copy elsewhere': [404, 201, 404, 404, 201],
      delete: [404, 200, 404, 404, 200],
      'bulk delete': [404, 200, 404, 404, 200],
    },
  },
  // No row is visible. A preview is read as anon, with any credentials.
  {
    title: 'dropped by the project',
    isPublic: true,
    isOwned: true,
    policies: DROP_ALL,
    statuses: {
      'create bucket': [403, 403, 403, 403, 201],
      'see bucket': [404, 404, 404, 404, 200],
      'find bucket in list': [404, 404, 404, 404, 200],
      'change bucket': [404, 404, 404, 404, 200],
      'delete bucket': [404, 404, 404, 404, 200],
      list: [404, 404, 404, 404, 200],
      folders: [404, 404, 404, 404, 200],
      'find in list': [404, 404, 404, 404, 200],
      record: [404, 404, 404, 404, 200],
      download: [404, 404, 404, 404, 200],
      preview: [404, 404, 404, 404, 404],
      sign: [404, 404, 404, 404, 200],
      'bulk sign': [404, 404, 404, 404, 200],
      upload: [404, 404, 404, 404, 201],
      rename: [404, 404, 404, 404, 200],
      move: [404, 404, 404, 404, 200],
      overwrite: [404, 404, 404, 404, 200],
      revoke: [404, 404, 404, 404, 200],
      copy: [404, 404, 404, 404, 201],
      'copy elsewhere': [404, 404, 404, 404, 201],
      delete: [404, 404, 404, 404, 200],
      'bulk delete': [404, 404, 404, 404, 200],
    },
  },
  {
    title: 'replaced: every role reads',
    isPublic: false,
    isOwned: true,
    policies: everyRole('select'),
    statuses: READABLE,
  },
  {
    title: 'replaced: every role reads and inserts',
    isPublic: false,
    isOwned: true,
    policies: everyRole('select', 'insert'),
    statuses: {
      ...READABLE,
      'create bucket': [201, 201, 201, 201, 201],
      upload: [201, 201, 201, 201, 201],
      copy: [201, 201, 201, 201, 201],
      'copy elsewhere': [201, 201, 201, 201, 201],
    },
  },
  {
    title: 'replaced: every role reads and updates',
    isPublic: false,
    isOwned: true,
    policies: everyRole('select', 'update'),
    statuses: {
      ...READABLE,
      'change bucket': [200, 200, 200, 200, 200],
      rename: [200, 200, 200, 200, 200],
      move: [200, 200, 200, 200, 200],
      revoke: [200, 200, 200, 200, 200],
    },
  },
  {
    title: 'replaced: every role reads and deletes',
    isPublic: false,
    isOwned: true,
    policies: everyRole('select', 'delete'),
    statuses: {
      ...READABLE,
      'delete bucket': [200, 200, 200, 200, 200],
      delete: [200, 200, 200, 200, 200],
      'bulk delete': [200, 200, 200, 200, 200],
    },
  },
  {
    title: 'replaced: every role reads and writes',
    isPublic: false,
    isOwned: true,
    policies: everyRole('all'),
    statuses: {
      ...READABLE,
      'create bucket': [201, 201, 201, 201, 201],
      'change bucket': [200, 200, 200, 200, 200],
      'delete bucket': [200, 200, 200, 200, 200],
      upload: [201, 201, 201, 201, 201],
      rename: [200, 200, 200, 200, 200],
      move: [200, 200, 200, 200, 200],
      overwrite: [200, 200, 200, 200, 200],
      revoke: [200, 200, 200, 200, 200],
      copy: [201, 201, 201, 201, 201],
      'copy elsewhere': [201, 201, 201, 201, 201],
      delete: [200, 200, 200, 200, 200],
      'bulk delete': [200, 200, 200, 200, 200],
    },
  },
];
