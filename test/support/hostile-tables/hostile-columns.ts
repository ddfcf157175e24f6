/** Values that the owner of a project can write into the columns of its storage tables by SQL. */
import type { Subject } from './storage-requests';

/** One column, and the values that the owner writes into it in turn. */
export interface HostileColumn {
  readonly table: 'files' | 'buckets';
  readonly name: string;
  /** Requests for these subjects must be refused with 500 storage_unavailable; other requests may be served. */
  readonly refused: readonly Subject[];
  readonly values: readonly HostileValue[];
}

export interface HostileValue {
  /** An SQL expression. */
  readonly value: string;
  /** The type to which the column is changed first. */
  readonly type: string;
  /** Refused subjects, if they differ from those of the column. */
  readonly refused?: readonly Subject[];
  /** True if the row declares more bytes than exist, so that the connection may be closed early. */
  readonly breaksOff?: boolean;
}

/** Drops all constraints, policies, indexes and triggers that would refuse a hostile value, and the view of these columns. */
export const LOOSEN = `
  drop view if exists storage.objects;
  do $$ declare it record; begin
    for it in select polname as name, polrelid::regclass as relation from pg_policy
      where polrelid in ('storage.files'::regclass, 'storage.buckets'::regclass)
    loop execute format('drop policy %I on %s', it.name, it.relation); end loop;
    for it in select conname as name, conrelid::regclass as relation from pg_constraint
      where conrelid in ('storage.files'::regclass, 'storage.buckets'::regclass) and contype in ('c', 'u', 'p')
    loop execute format('alter table %s drop constraint %I', it.relation, it.name); end loop;
  end $$;
  drop index if exists storage.files_by_age, storage.files_by_size, storage.files_by_owner;
  alter table storage.files disable trigger user;
  alter table storage.buckets disable trigger user;
  create policy everything on storage.files using (true) with check (true);
  create policy everything on storage.buckets using (true) with check (true);
`;

/** Changes the type of a column, then sets the column to a value in all rows. */
export function alterColumn({ table, name }: HostileColumn, { value, type }: HostileValue): string {
  const column = `alter table storage.${table} alter column ${name}`;
  return `${LOOSEN} ${column} drop not null; ${column} drop default;
    ${column} type ${type} using (${value})::${type}; ${column} set default (${value})::${type};`;
}

/** The object id of each file, by name. */
export function alterObjectIds(idsByName: ReadonlyMap<string, string>): string {
  const cases = [...idsByName].map(([name, id]) => `when '${name}' then ${id}`).join(' ');
  return `${LOOSEN} alter table storage.files alter column object_id type text, alter column object_id drop not null;
    update storage.files set object_id = case filename ${cases} end;`;
}

/** SQL expressions of texts that are not valid object ids. @param elsewhere paths from a project's folder to foreign files */
export function objectIds(elsewhere: readonly string[]): string[] {
  const paths = [...elsewhere, '/etc/passwd', '../../../../../../../etc/passwd', '../', '..', '.', '', 'x'];
  return [
    ...paths.map((path) => `'${path}'`),
    `gen_random_uuid()::text || E'\\n'`,
    `E'\\r\\nX-Evil: 1\\r\\n' || gen_random_uuid()::text`,
    `upper(gen_random_uuid()::text)`,
    `replace(gen_random_uuid()::text, '-', '/')`,
    MEGABYTES,
    'null',
  ];
}

const as = (value: string, type: string, more: Partial<HostileValue> = {}): HostileValue => ({
  value,
  type,
  ...more,
});
const column =
  (table: 'files' | 'buckets') =>
  (name: string, refused: readonly Subject[], values: readonly HostileValue[]): HostileColumn => ({
    table,
    name,
    refused,
    values,
  });
const [files, buckets] = [column('files'), column('buckets')];

export const CRLF = `E'x\\r\\nX-Evil: 1\\r\\n\\r\\n<p>'`;
export const MEGABYTES = `repeat('x', 3000000)`;
const TIMES = [`'infinity'`, `'-infinity'`, `'294276-12-31'`, `'4713-01-01 BC'`, `'20000-01-01'`, 'null']
  .map((time) => as(time, 'timestamptz'))
  .concat(as(`'soon'`, 'text'), as('7', 'bigint'), as(`'2026-01-01'`, 'date', { refused: [] }));
const SERVED = { refused: [] } as const;
const RECORD = ['record', 'list'] as const;
const READ = ['record', 'list', 'content'] as const;

export const FILE_COLUMNS: readonly HostileColumn[] = [
  files('id', [], [as(`'../../etc'`, 'text'), as('null', 'uuid')]),
  files('bucket_id', ['record'], [as('null', 'uuid'), as(CRLF, 'text')]),
  files('filename', READ, [
    as('null', 'text'),
    as(`''`, 'text'),
    as(MEGABYTES, 'text'),
    as(`'7'`, 'bytea'),
    as(`'{"a": 1}'`, 'jsonb'),
    as(CRLF, 'text', SERVED),
  ]),
  files('content_type', READ, [
    as('null', 'text'),
    as(MEGABYTES, 'text'),
    as(`'{a,b}'`, 'text[]'),
    as(CRLF, 'text', SERVED),
  ]),
  files('size', READ, [
    as('-1', 'bigint'),
    as('9223372036854775807', 'bigint'),
    as('1000000000000', 'bigint', { ...SERVED, breaksOff: true }),
    as('null', 'bigint'),
    as(`'1e30'`, 'numeric'),
    as(`'NaN'`, 'numeric'),
    as(`'Infinity'`, 'float8'),
    as(`E'43\\n'`, 'text'),
    as(`'0x2b'`, 'text'),
    as(`'{"a": 1}'`, 'jsonb'),
    as(`'{1,2}'`, 'int[]'),
  ]),
  files('sha256', READ, [
    as('null', 'text'),
    as(`''`, 'text'),
    as(CRLF, 'text'),
    as(MEGABYTES, 'text'),
    as(`'{1,2}'`, 'int[]'),
    as(`repeat('"', 64)`, 'text', { refused: ['record', 'content'] }),
  ]),
  files('owner_id', RECORD, [as(CRLF, 'text'), as(MEGABYTES, 'text')]),
  files('metadata', RECORD, [
    as('null', 'jsonb'),
    as(`'[1]'`, 'jsonb'),
    as(`'"text"'`, 'jsonb'),
    as(`'"}],"error":null,"x":"'`, 'text'),
    as(`'{}'`, 'xml'),
    as(`jsonb_build_object('x', ${MEGABYTES})`, 'jsonb'),
    as(`(repeat('{"a":', 3000) || '1' || repeat('}', 3000))`, 'jsonb', { refused: ['record'] }),
  ]),
  files(
    'object_id',
    ['content'],
    [
      as('null', 'uuid'),
      as(`'{"a": "../platform-admin-key"}'`, 'jsonb'),
      as(`'{../platform-admin-key,x}'`, 'text[]'),
    ],
  ),
  files(
    'link_revision',
    ['link'],
    [
      as('-1', 'int'),
      as('null', 'int'),
      as(`'1&expires=9'`, 'text'),
      as(`'NaN'`, 'float8'),
      as(MEGABYTES, 'text'),
    ],
  ),
  files('updated_at', READ, TIMES),
  files('created_at', RECORD, TIMES),
];

export const BUCKET_COLUMNS: readonly HostileColumn[] = [
  buckets('id', ['bucket', 'target'], [as('null', 'uuid', { refused: ['bucket'] }), as(CRLF, 'text')]),
  buckets('name', ['bucket'], [as('null', 'text'), as(MEGABYTES, 'text'), as(`'{"a": 1}'`, 'jsonb')]),
  buckets('slug', [], [as(MEGABYTES, 'text'), as('null', 'text'), as(`'{box}'`, 'text[]')]),
  buckets('description', ['bucket'], [as(MEGABYTES, 'text'), as(`'{a}'`, 'text[]')]),
  buckets(
    'is_public',
    ['bucket'],
    [as('null', 'boolean'), as(`'false'`, 'text', { refused: ['bucket', 'content'] })],
  ),
  buckets('owner_id', ['bucket'], [as(CRLF, 'text')]),
  buckets(
    'file_size_limit',
    ['bucket', 'target'],
    [as('-5', 'bigint'), as(`'NaN'`, 'float8'), as(`'many'`, 'text')],
  ),
  buckets(
    'allowed_mime_types',
    ['bucket', 'target'],
    [
      as(`'{"a": 1}'`, 'jsonb'),
      as(`'{NULL}'`, 'text[]'),
      as(`'{{a,b},{c,d}}'`, 'text[]'),
      as(`array_fill('x'::text, array[500000])`, 'text[]'),
      as(MEGABYTES, 'text'),
    ],
  ),
  buckets('quota_bytes', ['bucket', 'target'], [as('-1', 'bigint'), as(`'1e30'`, 'numeric')]),
  buckets('quota_files', ['bucket', 'target'], [as(`'NaN'`, 'float8'), as(CRLF, 'text')]),
  buckets(
    'cache_control',
    ['bucket', 'content'],
    [as(MEGABYTES, 'text'), as(`'{a}'`, 'text[]'), as(CRLF, 'text', SERVED)],
  ),
  buckets('delete_after_days', ['bucket'], [as('-1', 'bigint'), as(CRLF, 'text')]),
  buckets('scan', ['bucket'], [as(`'none'`, 'text', SERVED), as(CRLF, 'text', SERVED)]),
  buckets('created_at', ['bucket'], TIMES),
  buckets('updated_at', ['bucket'], TIMES),
];
