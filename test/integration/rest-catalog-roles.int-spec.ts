/** The catalog has the settings and rights of roles of its project only. */
import { randomUUID } from 'node:crypto';
import { buildCatalog } from '../../src/rest/catalog/build-catalog';
import { nameKey } from '../../src/rest/catalog/catalog';
import { MAX_OWN_ROLES } from '../../src/rest/catalog/catalog-queries';
import { createCatalogDatabase } from '../support/catalog-database';

const suffix = randomUUID().slice(0, 8);
const own = (number: number): string => `own_${suffix}_${String(number).padStart(3, '0')}`;
const foreign = `foreign_${suffix}`;
const MORE = MAX_OWN_ROLES + 20;

let made: Awaited<ReturnType<typeof createCatalogDatabase>>;

beforeAll(async () => {
  made = await createCatalogDatabase();
  const me = `"${made.database.user}"`;
  await made.owner.query(`
    do $$ begin if to_regrole('anon') is null then create role anon nologin; end if; end $$;
    create table closed (id int); alter table closed enable row level security;
    create role "maker_${suffix}" createrole;
    create role "${foreign}"; grant "${foreign}" to "maker_${suffix}" with admin option;
    do $$ begin for i in 1..${MORE} loop
      execute format('create role own_${suffix}_%s', lpad(i::text, 3, '0'));
      execute format('grant own_${suffix}_%s to ${me}', lpad(i::text, 3, '0'));
    end loop; end $$;
    create role "far_${suffix}"; grant "far_${suffix}" to "${own(1)}";
    set role "maker_${suffix}"; grant "${foreign}" to ${me}; reset role;
    ${['anon', foreign, `far_${suffix}`, own(1), own(MORE)]
      .map((role) => `alter role "${role}" in database ${made.database.database} set work_mem = '7MB';`)
      .join('\n')}`);
});
afterAll(async () => {
  await made.owner
    .query(`alter role anon in database ${made.database.database} reset all; set client_min_messages = error;
    revoke "${foreign}" from "${made.database.user}" granted by "maker_${suffix}";
    do $$ declare name text; begin
      for name in select rolname from pg_roles where rolname like '%\\_${suffix}%' order by rolname = 'maker_${suffix}' loop
        execute format('drop role %I', name);
      end loop; end $$`);
  await made.drop();
});

it('has the roles that the owner or an administrator granted to the login role, up to a limit', async () => {
  const catalog = await buildCatalog(await made.repository.read(made.database));
  expect([...catalog.roleSettings.keys()]).toEqual([own(1)]);
  const { closedTo } = catalog.relations.get(nameKey({ schema: 'public', name: 'closed' })) ?? {};
  const ofTest = [...(closedTo ?? [])].filter((name) => name.includes(suffix));
  expect(ofTest).toEqual(Array.from({ length: MAX_OWN_ROLES }, (_, at) => own(at + 1)));
  expect(closedTo).toContain('anon');
});
