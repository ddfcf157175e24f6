/**
 * Converts policies of Supabase's storage.objects and storage.buckets to policies of storage.files and storage.buckets.
 * PostgreSQL itself finds the columns: the policy is created on a table with Supabase's columns, which are then renamed to
 * unmistakable names, and the expressions that PostgreSQL prints contain these names.
 */
import { randomBytes } from 'node:crypto';
import { quoteIdentifier } from '../../database/sql/identifier';
import { OBJECT_COLUMNS } from '../../provisioning/supabase-policies';
import type { SourcePolicy } from './source';
import type { ImportTarget } from './target';

interface Counterpart {
  readonly table: string;
  /** Columns of Supabase with their types, and their equivalents here. */
  readonly columns: Readonly<Record<string, readonly [type: string, here: string]>>;
}

const COUNTERPARTS: Readonly<Record<string, Counterpart>> = {
  'storage.objects': {
    table: 'storage.files',
    columns: OBJECT_COLUMNS,
  },
  'storage.buckets': {
    table: 'storage.buckets',
    columns: {
      id: ['text', 'buckets.name'],
      name: ['text', 'buckets.name'],
      owner: ['uuid', 'buckets.owner_id'],
      owner_id: ['text', '(buckets.owner_id)::text'],
      public: ['boolean', 'buckets.is_public'],
      created_at: ['timestamptz', 'buckets.created_at'],
      updated_at: ['timestamptz', 'buckets.updated_at'],
      file_size_limit: ['bigint', 'buckets.file_size_limit'],
      allowed_mime_types: ['text[]', 'buckets.allowed_mime_types'],
    },
  },
  'realtime.messages': { table: 'realtime.messages', columns: {} },
};

/** Shipped policies that give users more than Supabase does without a policy. */
const SHIPPED: readonly (readonly [table: string, name: string])[] = [
  ['storage.buckets', 'users can create buckets'],
  ['storage.buckets', 'users can change their own buckets'],
  ['storage.buckets', 'users can delete their own buckets'],
  ['storage.files', 'users can upload into their own and project buckets'],
  ['storage.files', 'users can change their files and files in their buckets'],
  ['storage.files', 'users can delete their files and files in their buckets'],
];
/** Replaces the shipped policy that also shows users their own files. */
const READING = 'users can read their files and files in their or public buckets';

export async function importPolicies(target: ImportTarget, policies: readonly SourcePolicy[]): Promise<void> {
  for (const [table, name] of SHIPPED)
    await target.tryRun(`drop policy if exists ${quoteIdentifier(name)} on ${table}`);
  await target.tryRun(`drop policy if exists ${quoteIdentifier(READING)} on storage.files;
    create policy "signed-in users can read files in public buckets" on storage.files for select to authenticated
      using (exists (select from storage.buckets b where b.id = bucket_id and b.is_public))`);
  for (const policy of policies) await importPolicy(target, policy);
}

async function importPolicy(target: ImportTarget, policy: SourcePolicy): Promise<void> {
  const object = `POLICY ${policy.name} on ${policy.table}`;
  const counterpart = COUNTERPARTS[policy.table];
  if (!counterpart) {
    target.failed.push({ object, reason: `Plinth has no counterpart of ${policy.table}` });
    return;
  }
  try {
    const translated = await translation(target, policy, counterpart);
    await target.runSql(object, creation(policy, counterpart.table, translated));
  } catch (error) {
    target.failed.push({ object, reason: (error as Error).message });
  }
}

type Expressions = Pick<SourcePolicy, 'using' | 'check'>;

function creation(policy: SourcePolicy, table: string, { using, check }: Expressions): string {
  const { name, permissive, command, roles } = policy;
  const known = roles.map((role) => (role === 'public' ? 'public' : quoteIdentifier(role)));
  return `create policy ${quoteIdentifier(name)} on ${table} as ${permissive} for ${command} to ${known.join(', ')}
    ${using === null ? '' : `using (${using})`} ${check === null ? '' : `with check (${check})`}`;
}

async function translation(
  target: ImportTarget,
  policy: SourcePolicy,
  { columns }: Counterpart,
): Promise<Expressions> {
  const names = Object.entries(columns);
  if (names.length === 0) return policy;
  const mark = `import_${randomBytes(8).toString('hex')}`;
  const marked = (n: number): string => `${mark}_${n}_`;
  const [, short = ''] = policy.table.split('.');
  const scratch = `storage.${quoteIdentifier(mark)}`;
  return target.undone(async (client) => {
    await client.query(`
      create table ${scratch} (${names.map(([name, [type]]) => `${quoteIdentifier(name)} ${type}`).join(', ')});
      ${creation({ ...policy, roles: ['public'] }, scratch, renamed(policy, short, mark))};
      ${names.map(([name], n) => `alter table ${scratch} rename column ${quoteIdentifier(name)} to ${marked(n)}`).join('; ')}`);
    const { rows } = await client.query<Expressions>(
      `select pg_catalog.pg_get_expr(polqual, polrelid) as using, pg_catalog.pg_get_expr(polwithcheck, polrelid) as check
        from pg_catalog.pg_policy where polrelid = $1::regclass`,
      [scratch],
    );
    const own = (text: string | null | undefined): string | null =>
      names.reduce(
        (all, [, [, here]], n) =>
          all.replaceAll(`${mark}.${marked(n)}`, () => here).replaceAll(marked(n), () => here),
        text ?? '',
      ) || null;
    return { using: own(rows[0]?.using), check: own(rows[0]?.check) };
  });
}

/** In subqueries the columns are qualified by the name of the table. */
const renamed = ({ using, check }: Expressions, table: string, mark: string): Expressions => {
  const own = (text: string | null): string | null =>
    text?.replace(new RegExp(`(?<![.\\w"'])${table}\\.(?=[a-z_"])`, 'g'), `${mark}.`) ?? null;
  return { using: own(using), check: own(check) };
};
