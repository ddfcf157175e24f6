/** Names of roles and databases that another role of the server took before Plinth needed them. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from 'pg';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { backUp, restore } from '../support/backups';
import { eventually } from '../support/eventually';
import { TestPlinth } from '../support/plinth';

const TEMPLATES = `select datname as name, pg_get_userbyid(datdba) as owner from pg_database
  where datname like 'plinth\\_template\\_%' order by 1`;
/** Owners of the initial objects of a project's database. */
const OWNERS = `select distinct pg_get_userbyid(owner) as owner from (
    select relowner as owner, relnamespace as schema from pg_class
    union all select proowner, pronamespace from pg_proc union all select nspowner, oid from pg_namespace) o
  where schema = any (array['auth', 'storage']::regnamespace[])`;

let directory: string;
let postgres: EmbeddedPostgres;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'plinth-names-'));
  postgres = await EmbeddedPostgres.start({ dataDir: directory, settings: { fsync: 'off' } });
  await superuser((client) => client.query(`create role mallory createrole; create role other createdb`));
}, 60_000);
afterAll(async () => {
  await postgres.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 30_000);

function superuser<T>(work: (client: Client) => Promise<T>, database?: string): Promise<T> {
  const url = new URL(postgres.url);
  if (database !== undefined) url.pathname = `/${database}`;
  return withConnection({ connectionString: url.href }, work);
}

const as = (role: string, sql: string): Promise<unknown> =>
  superuser(async (client) => {
    await client.query(`set session authorization ${role}`);
    return client.query(sql);
  });

const rowsOf = (sql: string, values: unknown[] = [], database?: string): Promise<unknown[]> =>
  superuser(async (client) => (await client.query(sql, values)).rows, database);

async function withPlinth(work: (plinth: TestPlinth) => Promise<void>): Promise<void> {
  const plinth = await TestPlinth.start({ databaseUrl: postgres.url });
  try {
    await work(plinth);
  } finally {
    await plinth.stop();
  }
}

/** Drops the templates, as if an upgrade needed a template of another version. */
async function forgetTemplates(): Promise<void> {
  for (const { name } of (await rowsOf(TEMPLATES)) as { name: string }[])
    await superuser((client) => client.query(`drop database "${name}"`));
}

const take = (role: string): string =>
  `create role ${role}; grant ${role} to mallory with inherit true, set true`;
const isMember = `select pg_has_role('mallory', $1, 'MEMBER') as member`;

describe('the role that owns the template of projects', () => {
  it('is replaced if another role created it, so that nobody can connect to the template', async () => {
    await as(
      'mallory',
      `${take('plinth_template_owner')}; alter role plinth_template_owner login createrole`,
    );
    await withPlinth(async (plinth) => {
      expect(await rowsOf(isMember, ['plinth_template_owner'])).toEqual([{ member: false }]);
      const { id } = await plinth.createProject();
      const owner = `plinth_${id}_owner`;
      expect(await rowsOf(OWNERS, [], `plinth_${id}`)).toEqual([{ owner }]);
    });
  });

  it('is replaced together with the template if an earlier version had trusted it', async () => {
    await forgetTemplates();
    await withPlinth(async () => undefined);
    const [before] = await rowsOf('select oid from pg_database where datname = $1', [await templateName()]);
    await superuser((client) => client.query('grant plinth_template_owner to mallory with admin option'));
    await withPlinth(async (plinth) => {
      expect(await rowsOf(isMember, ['plinth_template_owner'])).toEqual([{ member: false }]);
      const [after] = await rowsOf('select oid from pg_database where datname = $1', [await templateName()]);
      expect(after).not.toEqual(before);
      await plinth.createProject();
    });
  });

  it('is refused by name if Plinth is not a superuser, and the existing role is kept', async () => {
    const suffix = createHash('sha256').update('restricted').digest('hex').slice(0, 8);
    const name = `plinth_template_owner_${suffix}`;
    await as('mallory', take(name));
    await superuser((client) =>
      client.query(`create role restricted login password 'restricted' createdb createrole;
        grant connect on database postgres to restricted;
        grant anon, authenticated, service_role, plinth_logins to restricted with admin option`),
    );
    const url = Object.assign(new URL(postgres.url), { username: 'restricted', password: 'restricted' });
    await expect(TestPlinth.start({ databaseUrl: url.href })).rejects.toThrow(
      `the role ${name} exists, and mallory is a member of it`,
    );
    expect(await rowsOf(isMember, [name])).toEqual([{ member: true }]);
  });
});

describe('a template', () => {
  it('that another role created is neither copied nor dropped, and the start reports it', async () => {
    const name = await templateName();
    await forgetTemplates();
    await as('other', `create database ${name}`);
    await expect(TestPlinth.start({ databaseUrl: postgres.url })).rejects.toThrow(
      `the database ${name} belongs to the role other`,
    );
    expect(await rowsOf(TEMPLATES)).toEqual([{ name, owner: 'other' }]);
    await forgetTemplates();
    await as('other', `create database ${name}_draft`);
    await expect(TestPlinth.start({ databaseUrl: postgres.url })).rejects.toThrow(
      `the database ${name}_draft belongs to the role other`,
    );
    expect(await rowsOf(TEMPLATES)).toEqual([{ name: `${name}_draft`, owner: 'other' }]);
    await forgetTemplates();
  });
});

describe('a lock of the administration that a role of a project holds in an open maintenance database', () => {
  const mallory = (): string =>
    Object.assign(new URL(postgres.url), { username: 'mallory', password: 'mallory' }).href;
  /** Holds the lock in the maintenance database, which Plinth closes at each start because it is a superuser here. */
  const holding = async (key: string, work: (holder: Client) => Promise<void>): Promise<void> => {
    await superuser((client) => client.query('grant connect on database postgres to mallory'));
    await withConnection({ connectionString: mallory() }, async (client) => {
      await client.query(`select pg_advisory_lock(${key})`);
      await work(client);
    });
  };

  beforeAll(async () => {
    await withPlinth(async () => undefined);
    await superuser((client) =>
      client.query(`alter role mallory login password 'mallory'; grant plinth_logins to mallory`),
    );
  }, 30_000);

  it('on global objects delays nobody', async () => {
    await forgetTemplates();
    await holding('7046102', async (holder) => {
      await withPlinth(async () => undefined);
      await expect(holder.query('select 1')).rejects.toThrow();
    });
  }, 30_000);

  it('with waiting requests ahead of Plinth delays nobody either', async () => {
    await forgetTemplates();
    await holding('7046102', async () => {
      const waiting = Array.from({ length: 5 }, () =>
        holding('7046102', async () => undefined).catch(() => undefined),
      );
      await withPlinth(async () => undefined);
      await Promise.all(waiting);
    });
  }, 30_000);

  it('on the monitoring of sessions is taken over by a process of Plinth', async () => {
    await holding('7046105', async (holder) => {
      await withPlinth(async () => {
        const held = `select r.rolsuper as ours from pg_locks l join pg_stat_activity a on a.pid = l.pid
          join pg_roles r on r.oid = a.usesysid
          where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = 7046105`;
        await eventually(async () => expect(await rowsOf(held)).toEqual([{ ours: true }]));
        await expect(holder.query('select 1')).rejects.toThrow();
      });
    });
  }, 30_000);

  it('on the name of a database delays no restore', async () => {
    await withPlinth(async (plinth) => {
      const { id } = await plinth.createProject();
      const archive = await backUp(plinth, id);
      expect((await plinth.admin.delete(`/admin/v1/projects/${id}`)).status).toBe(200);
      await holding(`hashtextextended('plinth_${id}', 0)`, async () => {
        expect((await restore(plinth, archive)).status).toBe(201);
      });
    });
  }, 30_000);

  it('on the creation of the platform database delays no start', async () => {
    await holding('7046101', async () => {
      await withPlinth(async () => undefined);
    });
  }, 30_000);
});

async function templateName(): Promise<string> {
  const [template] = (await rowsOf(TEMPLATES)) as { name: string }[];
  return template?.name ?? '';
}
