/** The advisor: each check finds its fault, the SQL fixes it, and hostile catalogs neither break nor delay it. */
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

interface Advice {
  readonly id: string;
  readonly check: string;
  readonly severity: string;
  readonly object: readonly string[];
  readonly why: string;
  readonly sql: string | null;
  readonly dismissed: { readonly actor: string } | null;
}

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

const pathOf = ({ id }: TestProject): string => `/admin/v1/projects/${id}/advice`;

async function adviceOf(of: TestProject, check?: string): Promise<Advice[]> {
  const { status, body } = await plinth.admin.get(pathOf(of));
  expect([status, body.skipped]).toEqual([200, []]);
  return (body.advice as Advice[]).filter((one) => check === undefined || one.check === check);
}

/** The name of a schema, table or column that breaks careless quoting. */
const HOSTILE = `a "b'; drop table victims; -- \\ é`;
const H = `"${HOSTILE.replaceAll('"', '""')}"`;

it('finds nothing in a new project with a table and a good policy', async () => {
  const fresh = await plinth.createProject();
  await fresh.sql(`create table notes (id bigint generated always as identity primary key, owner uuid);
    create index on notes (owner);
    create policy own on notes using (owner = (select auth.uid()))`);
  expect(await adviceOf(fresh)).toEqual([]);
});

interface Case {
  readonly check: string;
  readonly severity: string;
  readonly make: string;
  /** Statements that must run in a separate transaction. */
  readonly then?: readonly string[];
  readonly object: readonly string[];
}

const CASES: Case[] = [
  {
    check: 'rls_off',
    severity: 'critical',
    make: `create table public.${H} (id int); alter table public.${H} disable row level security`,
    object: ['public', HOSTILE],
  },
  {
    check: 'rls_off',
    severity: 'info',
    make: `create schema hidden; create table hidden.${H} (id int); alter table hidden.${H} disable row level security`,
    object: ['hidden', HOSTILE],
  },
  {
    check: 'policy_true',
    severity: 'critical',
    make: `create table p1 (id int); create policy ${H} on p1 for delete to anon using (true)`,
    object: ['public', 'p1', HOSTILE],
  },
  {
    check: 'policy_true',
    severity: 'info',
    make: `create table p2 (id int); create policy ${H} on p2 for select using (true)`,
    object: ['public', 'p2', HOSTILE],
  },
  {
    check: 'definer_view',
    severity: 'warning',
    make: `create view ${H.replace('a ', 'v ')} with (security_invoker = false) as select 1 as n`,
    object: ['public', HOSTILE.replace('a ', 'v ')],
  },
  {
    check: 'definer_function',
    severity: 'warning',
    make: `create function ${H}(${H} int, b text[]) returns int language sql security definer as 'select 1'`,
    object: ['public', HOSTILE, `${H} integer, b text[]`],
  },
  {
    check: 'foreign_key_without_index',
    severity: 'warning',
    make: `create table f1 (x int, y int, primary key (x, y));
      create table f2 (${H} int, y int, constraint ${H} foreign key (${H}, y) references f1)`,
    object: ['public', 'f2', HOSTILE],
  },
  {
    check: 'policy_column_without_index',
    severity: 'warning',
    make: `create table c1 (id int, ${H} uuid); create policy own on c1 using (${H} = (select auth.uid()));
      insert into c1 select n from generate_series(1, 1500) n; analyze c1`,
    object: ['public', 'c1', HOSTILE],
  },
  {
    check: 'policy_call_per_row',
    severity: 'info',
    make: `create table b1 (${H} uuid primary key);
      create policy ${H} on b1 using (${H} = auth.uid()) with check (auth.role() = 'x' and (select auth.email()) = 'y')`,
    object: ['public', 'b1', HOSTILE],
  },
  {
    check: 'duplicate_index',
    severity: 'warning',
    make: `create table d1 (id int primary key, n int); create index d1_first on d1 (n); create index ${H.replace('a ', 'd ')} on d1 (n)`,
    object: ['public', 'd1', HOSTILE.replace('a ', 'd ')],
  },
  {
    check: 'unused_index',
    severity: 'info',
    make: `create table u1 (n int); create index "u ""1" on u1 (n); insert into u1 select generate_series(1, 20000)`,
    object: ['public', 'u1', 'u "1'],
  },
  {
    check: 'sequence_near_end',
    severity: 'critical',
    make: `create table s1 (${H} serial primary key); select setval(pg_get_serial_sequence('s1', '${HOSTILE.replaceAll("'", "''")}'), 2147483000)`,
    object: ['public', expect.stringContaining('s1_')],
  },
];

describe.each(CASES)('the check $check, $severity', ({ check, severity, make, object }) => {
  it('finds the fault, and its SQL fixes it', async () => {
    await project.sql(make);
    const found = (await adviceOf(project, check)).filter((one) => one.severity === severity);
    expect(found).toEqual([
      {
        id: expect.stringMatching(/^[a-z_]+-[0-9a-f]{16}$/),
        check,
        severity,
        object,
        why: expect.stringMatching(/^[A-Z0-9].{20,}\.$/s),
        reason: expect.stringContaining(check.slice(0, 6)),
        values: expect.any(Object),
        sql: expect.any(String),
        dismissed: null,
      },
    ]);
    for (const statement of found[0]?.sql?.split('\n') ?? []) await project.sql(statement);
    expect((await adviceOf(project, check)).filter((one) => one.id === found[0]?.id)).toEqual([]);
  });
});

it('rewrites a policy without changing its meaning', async () => {
  const [row] = await project.sql(
    `select pg_get_expr(polqual, polrelid) as using, pg_get_expr(polwithcheck, polrelid) as check
     from pg_policy where polrelid = 'b1'::regclass`,
  );
  expect(row.using).toContain(`= ( SELECT auth.uid()`);
  expect(row.check).toMatch(/\( SELECT auth\.role\(\) .*'x'.* AND .*\( SELECT auth\.email\(\) .*'y'/);
});

it('does not rewrite the contents of a literal', async () => {
  await project.sql(
    `create table l1 (t text); create policy p on l1 using (t = 'auth.uid()' and auth.uid() is not null)`,
  );
  const [found] = (await adviceOf(project, 'policy_call_per_row')).filter(({ object }) => object[1] === 'l1');
  expect(found).toMatchObject({ sql: null });
});

it('finds tables with many dead rows', async () => {
  const fresh = await plinth.createProject();
  await fresh.sql(
    'create table t (n int) with (autovacuum_enabled = false); insert into t select generate_series(1, 30000)',
  );
  await fresh.sql('delete from t where n > 10; select pg_stat_force_next_flush()');
  expect(await adviceOf(fresh, 'bloat')).toMatchObject([
    { object: ['public', 't'], sql: 'vacuum (analyze) "public"."t";' },
  ]);
});

it('asks for a backup of a project that has had none for a week', async () => {
  const fresh = await plinth.createProject();
  plinth.clock.move(8 * 86_400);
  expect(await adviceOf(fresh, 'backup_old')).toMatchObject([{ severity: 'warning', object: [fresh.slug] }]);
  plinth.clock.move(-8 * 86_400);
  expect(await adviceOf(fresh, 'backup_old')).toEqual([]);
});

it('can be dismissed and restored', async () => {
  const fresh = await plinth.createProject();
  await fresh.sql('create table open (id int); alter table open disable row level security');
  const [{ id } = { id: '' }] = await adviceOf(fresh, 'rls_off');
  expect((await plinth.admin.post(`${pathOf(fresh)}/${id}/dismiss`)).body).toEqual({ id, dismissed: true });
  expect(await adviceOf(fresh, 'rls_off')).toMatchObject([
    { id, dismissed: { actor: 'platform-admin-key' } },
  ]);
  expect((await adviceOf(project, 'rls_off')).every(({ dismissed }) => dismissed === null)).toBe(true);
  expect((await plinth.admin.delete(`${pathOf(fresh)}/${id}/dismiss`)).body).toEqual({
    id,
    dismissed: false,
  });
  expect(await adviceOf(fresh, 'rls_off')).toMatchObject([{ id, dismissed: null }]);
  for (const unknown of ['rls_off', 'nothing-0123456789abcdef', 'rls_off-0123456789abcdeg', '%00'])
    expect((await plinth.admin.post(`${pathOf(fresh)}/${unknown}/dismiss`)).status).toBe(404);
  expect((await plinth.admin.get('/admin/v1/projects/unknown/advice')).status).toBe(404);
});

describe('hostile catalogs', () => {
  it('list at most fifty findings for each check', async () => {
    const fresh = await plinth.createProject();
    await fresh.sql(`do $$ begin for n in 1..80 loop
      execute format('create table t%s (id int); alter table t%s disable row level security', n, n); end loop; end $$`);
    const { body } = await plinth.admin.get(pathOf(fresh));
    expect([body.advice.length, body.truncated]).toEqual([50, ['rls_off']]);
  });

  it("cannot put their own functions and operators in front of PostgreSQL's", async () => {
    const fresh = await plinth.createProject();
    await fresh.sql(`create table called (id int);
      create function public.has_table_privilege(text, oid, text) returns boolean language plpgsql as
        $$ begin insert into called values (1); return false; end $$;
      create function public.pg_get_expr(pg_node_tree, oid) returns text language sql as $$ select pg_sleep(60)::text $$;
      create table open (id int); alter table open disable row level security`);
    expect(await adviceOf(fresh, 'rls_off')).toMatchObject([
      { severity: 'critical', object: ['public', 'open'] },
    ]);
    expect(await fresh.sql('select count(*)::int as n from called')).toEqual([{ n: 0 }]);
  });

  it('skip a check that fails, and run the others', async () => {
    const fresh = await plinth.createProject();
    await fresh.sql(`create table open (id int); alter table open disable row level security`);
    await asSuperuser(`plinth_${fresh.id}`, async (superuser) => {
      await superuser.query(`begin; lock table pg_catalog.pg_sequence in access exclusive mode`);
      const { body, status } = await plinth.admin.get(pathOf(fresh));
      await superuser.query('rollback');
      expect(status).toBe(200);
      expect(body.skipped).toContainEqual({
        check: 'sequence_near_end',
        reason: expect.stringMatching(/took more|timeout/),
      });
      expect((body.advice as Advice[]).map(({ check }) => check)).toContain('rls_off');
    });
  }, 60_000);
});

it('reports its critical findings to the doctor', async () => {
  const fresh = await plinth.createProject();
  await fresh.sql('create table p (id int); create policy all_of_it on p to anon using (true)');
  const { body } = await plinth.admin.post('/admin/v1/doctor', {});
  const messages = (body.findings as { check: string; message: string }[])
    .filter(({ check }) => check === 'projects')
    .map(({ message }) => message);
  expect(messages).toContain(
    `project ${fresh.slug}: critical advice (policy_true) about "public.p.all_of_it"`,
  );
});
