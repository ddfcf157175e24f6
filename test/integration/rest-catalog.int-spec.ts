/** The catalog of table REST on a real PostgreSQL: contents, speed, and updates after DDL. */
import type { Client } from 'pg';
import { ProjectDatabase } from '../../src/database/pools/project-database';
import type { ProjectPools } from '../../src/database/pools/project-pools';
import { RESET_BEFORE_CALL } from '../../src/database/pools/session-state';
import { buildCatalog } from '../../src/rest/catalog/build-catalog';
import { nameKey, Relationship } from '../../src/rest/catalog/catalog';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { ProjectCatalog } from '../../src/rest/catalog/project-catalog';
import { createCatalogDatabase } from '../support/catalog-database';
import { eventually } from '../support/eventually';
import { memoryInUse } from '../support/memory-probe';
import { IN_SOAK } from '../support/extent';

let pools: ProjectPools;
let onAnnounced = (): void => undefined;
let repository: CatalogRepository;
let database: ProjectDatabase;
let owner: Client;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ pools, repository, database, owner, drop } = await createCatalogDatabase());
  pools.listenOn('plinth_ddl', () => onAnnounced());
});
afterAll(() => drop());

const read = async () => buildCatalog(await repository.read(database));

describe('contents of the catalog', () => {
  it('has columns with types, defaults and nullability', async () => {
    await owner.query(`
      create domain positive as numeric(6, 2) default 1 check (value > 0);
      create table typed (id int generated always as identity primary key, a varchar(5) not null, b positive, c text[] default '{}', d int);
      alter table typed drop column d;
    `);
    const columns = [
      ...((await read()).relations.get(nameKey({ schema: 'public', name: 'typed' }))?.columns.values() ?? []),
    ];
    expect(
      columns.map((one) => [one.name, one.inputType, one.declaredType, one.nullable, one.hasDefault]),
    ).toEqual([
      ['id', 'integer', 'integer', false, true],
      ['a', 'character varying(5)', 'character varying', false, false],
      ['b', 'numeric(6,2)', 'public.positive', true, true],
      ['c', 'text[]', 'text[]', true, true],
    ]);
  });

  it('traces the keys of views, of views over views, and of joins', async () => {
    await owner.query(`
      create table authors (id int primary key); create table books (id int primary key, author int constraint written_by references authors);
      create view v1 as select id as book_id, author as author_id, upper('x') as x from books;
      create view v2 as select author_id as a, book_id as b from v1;
      create view v3 as select b.id as bid, a.id as aid from books b join authors a on a.id = b.author;
      create view v4 as select id from books union select id from books;
    `);
    const catalog = await read();
    const targets = (from: string) =>
      (catalog.relationships.get(nameKey({ schema: 'public', name: from })) ?? [])
        .filter((one): one is Exclude<Relationship, { kind: 'computed' }> => one.kind === 'many-to-one')
        .map((one) => one.to.name)
        .sort();
    expect(targets('v1')).toEqual(['authors', 'v3']);
    expect(targets('v2')).toEqual(['authors', 'v3']);
    expect(targets('v4')).toEqual([]);
    const key = (view: string) =>
      catalog.relations.get(nameKey({ schema: 'public', name: view }))?.primaryKey;
    expect([key('v1'), key('v2'), key('v3'), key('v4')]).toEqual([['book_id'], ['b'], ['aid', 'bid'], []]);
  });

  it('has the same version for the same schema, and another version after DDL', async () => {
    const [first, second] = [await read(), await read()];
    expect(second.version).toBe(first.version);
    await owner.query('alter table authors add column name text');
    expect((await read()).version).not.toBe(first.version);
  });
});

describe('the fingerprint', () => {
  const CHANGES = [
    'create table fp (id int)',
    'alter table fp add column a int',
    'alter table fp alter column a type text',
    `alter table fp alter column a set default 'x'`,
    'alter table fp add primary key (id)',
    'alter table fp rename column a to b',
    'create function fp_f() returns int language sql as $$ select 1 $$',
    'create or replace function fp_f() returns int language sql stable as $$ select 2 $$',
    'create view fp_v as select * from fp',
    'comment on table fp is null; alter table fp rename to fp2',
    'drop function fp_f',
    'drop view fp_v',
    `comment on table fp2 is 'rows of a test'`,
    `comment on column fp2.id is 'a number'`,
    `create type fp_e as enum ('a')`,
    `alter type fp_e add value 'b'`,
    'drop type fp_e',
    'drop table fp2',
  ];
  it.each(CHANGES)('differs after: %s', async (ddl) => {
    const before = await repository.fingerprint(database);
    expect(await repository.fingerprint(database)).toBe(before);
    await owner.query(ddl);
    expect(await repository.fingerprint(database)).not.toBe(before);
  });

  it('is of one snapshot, even if objects are replaced while it is read', async () => {
    await owner.query('create schema moving; create table moving.things (id int)');
    const anew = `begin; drop table moving.things cascade; create table moving.things (id int);
      create function moving.all_things() returns setof moving.things language sql as 'select * from moving.things';
      commit; select pg_sleep(0.03)`;
    let done = false;
    const changes = (async () => {
      while (!done) await owner.query(anew);
    })();
    const missing: unknown[] = [];
    for (let round = 0; round < 40; round += 1) {
      const { relations, routines } = await repository.read(database);
      const known = new Set(relations.map(({ oid }) => oid));
      missing.push(
        ...routines.filter((one) => one.schema === 'moving' && !known.has(one.result_relation ?? '')),
      );
    }
    done = true;
    await changes;
    await owner.query('drop schema moving cascade');
    expect(missing).toEqual([]);
  });

  it('stays the same when only rows change', async () => {
    await owner.query('create table data_only (id int)');
    const before = await repository.fingerprint(database);
    await owner.query('insert into data_only select generate_series(1, 1000); analyze data_only');
    expect(await repository.fingerprint(database)).toBe(before);
  });
});

describe('the catalog after DDL', () => {
  it('is updated by polling if nothing announces the change; the old one is served until then', async () => {
    const catalog = new ProjectCatalog(database, repository, (error) => expect(error).toBeUndefined());
    const has = async () =>
      (await catalog.current()).relations.has(nameKey({ schema: 'public', name: 'polled' }));
    expect(await has()).toBe(false);
    await owner.query('create table polled (id int)');
    await eventually(async () => expect(await has()).toBe(true));
    catalog.close();
  });

  /** A catalog that is updated by the listening connection of the pool. */
  function listeningCatalog(): ProjectCatalog {
    const heardSince = (): number => pools.heardSince(database.key);
    const catalog = new ProjectCatalog(database, repository, () => undefined, heardSince);
    onAnnounced = () => catalog.onAnnounced();
    return catalog;
  }
  const tablesOf = async (catalog: ProjectCatalog): Promise<string[]> =>
    [...(await catalog.current()).relations.values()].map(({ name }) => name);

  it('is polled despite listening if no event trigger announces changes', async () => {
    const catalog = listeningCatalog();
    expect(await tablesOf(catalog)).not.toContain('unannounced');
    await owner.query('create table unannounced (id int)');
    await eventually(async () => expect(await tablesOf(catalog)).toContain('unannounced'));
    expect(pools.heardSince(database.key)).toBeLessThan(Infinity);
    expect(catalog.isWatched).toBe(false);
    catalog.close();
  });

  it('is updated by notification without a comparison, also after a function has stopped listening', async () => {
    await owner.query(`
      create function announce() returns event_trigger language plpgsql as $$ begin perform pg_notify('plinth_ddl', ''); end $$;
      create event trigger plinth_announce_ddl on ddl_command_end execute function announce()`);
    const catalog = listeningCatalog();
    const compared = jest.spyOn(repository, 'fingerprint');
    await catalog.current();
    expect(catalog.isWatched).toBe(true);
    await owner.query('create table told (id int)');
    await eventually(async () => expect(await tablesOf(catalog)).toContain('told'));
    const stopListening = { text: `do $$ begin execute 'unlisten *'; end $$` };
    await pools.use(database, (connection) => connection.pipeline([...RESET_BEFORE_CALL, stopListening]));
    await owner.query('create table told_afterwards (id int)');
    await eventually(async () => expect(await tablesOf(catalog)).toContain('told_afterwards'));
    expect(compared).not.toHaveBeenCalled();
    compared.mockRestore();
    catalog.close();
  });

  it('is updated after the listening connection was lost', async () => {
    const catalog = listeningCatalog();
    await catalog.current();
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database.database}' and application_name = 'plinth'`,
    );
    await owner.query('create table missed (id int)');
    await eventually(async () => expect(await tablesOf(catalog).catch(() => [])).toContain('missed'));
    catalog.close();
  });

  it('is served without waiting while the new one is read', async () => {
    let release = (): void => undefined;
    let reads = 0;
    const slow = Object.create(repository) as CatalogRepository;
    slow.read = async (one) => {
      reads += 1;
      if (reads > 1) await new Promise<void>((resolve) => (release = resolve));
      return repository.read(one);
    };
    const catalog = new ProjectCatalog(database, slow, (error) => expect(error).toBeUndefined());
    const old = await catalog.current();
    await owner.query('create table while_it_is_read (id int)');
    const fresh = catalog.verified();
    await eventually(() => Promise.resolve(expect(reads).toBe(2)));
    // The code traits are added to a copy of the catalog.
    expect((await catalog.current()).relations).toBe(old.relations);
    release();
    expect((await catalog.current()).relations).toBe(old.relations);
    const swapped = await fresh;
    expect(swapped.relations.has(nameKey({ schema: 'public', name: 'while_it_is_read' }))).toBe(true);
    expect((await catalog.current()).relations).toBe(swapped.relations);
    catalog.close();
  });

  it('includes changes committed before verify() was called', async () => {
    const catalog = new ProjectCatalog(database, repository, () => undefined);
    await catalog.current();
    for (let round = 0; round < 5; round += 1) {
      await owner.query(`create table verified_${round} (id int)`);
      const fresh = await catalog.verified();
      expect(fresh.relations.has(nameKey({ schema: 'public', name: `verified_${round}` }))).toBe(true);
    }
    catalog.close();
  });
});

(IN_SOAK ? describe : describe.skip)('a large schema', () => {
  const grow = (from: number, to: number): Promise<unknown> =>
    owner.query(`
      do $$ begin
        for i in ${from}..${to} loop
          execute format('create table big_%s (id int primary key, a text default %L, b numeric(10,2), c jsonb, d timestamptz default now(), e text[], prev int %s)',
            i, 'x', case when i > 1 then format('references big_%s', i - 1) else '' end);
          execute format('create function fn_%s(a int, b text default %L) returns setof big_%s stable language sql as %L', i, 'y', i, format('select * from big_%s', i));
          if i > 1 then execute format('create view view_%s as select b.id, b.a, p.id as prev_id from big_%s b join big_%s p on p.id = b.prev', i, i, i - 1); end if;
        end loop;
      end $$`);

  /** The least of three measurements: milliseconds to read it, and bytes retained. */
  async function costs(): Promise<{ time: number; bytes: number }> {
    let [time, bytes] = [Infinity, Infinity];
    for (let round = 0; round < 3; round += 1) {
      const before = memoryInUse();
      const start = performance.now();
      const catalog = await read();
      time = Math.min(time, performance.now() - start);
      bytes = Math.min(bytes, memoryInUse() - before);
      expect(catalog.relations.size).toBeGreaterThan(0);
    }
    return { time, bytes };
  }

  it('takes time and memory in proportion to its tables, and a comparison takes a fraction of the time', async () => {
    await grow(1, 40);
    const small = await costs();
    await grow(41, 320);
    const large = await costs();
    // The large schema has eight times as many tables.
    expect(large.time).toBeLessThan(40 * small.time);
    expect(large.bytes).toBeLessThan(16 * Math.max(small.bytes, 512 * 1024));
    const compared: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const start = performance.now();
      await repository.fingerprint(database);
      compared.push(performance.now() - start);
    }
    expect(Math.min(...compared)).toBeLessThan(large.time);
  }, 120_000);
});
