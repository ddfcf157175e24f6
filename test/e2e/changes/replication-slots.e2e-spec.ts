/** Replication slots of changes: their readers, the log that they keep, and the loss of a slot. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { FeedSlots } from '../../../src/changes/feed-slots';
import { ProjectEntity } from '../../../src/projects/project.entity';
import { ProjectRepository } from '../../../src/projects/project.repository';
import { ProjectsService } from '../../../src/projects/projects.service';
import { EmbeddedPostgres } from '../../../src/database/embedded/embedded-postgres';
import { listen } from '../../support/change-listener';
import type { EventReader } from '../../support/event-stream';
import { until } from '../../support/eventually';
import { accessOf, asOwner, asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const MIB = 1024 * 1024;
const tuning = { changeLogMs: 3_000 };
const KEPT_LOG = /^plinth_change_kept_log_bytes [1-9]\d*$/m;
/** A small bound for some tests only, because other test files write to the log of the server too. */
const LITTLE_LOG = { ...tuning, changeLogBytes: 24 * MIB };
let plinth: TestPlinth;
const open: EventReader[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start({ tuning });
});
afterAll(async () => {
  for (const reader of open) await reader.close();
  await plinth.stop();
});

interface Slot {
  readonly name: string;
  readonly temporary: boolean;
  readonly pid: number | null;
}

/** The slots as the feed of the project uses them. */
async function slotsOfFeed({ id }: TestProject): Promise<{ id: string; slots: FeedSlots }> {
  const project = (await plinth.app.get(ProjectRepository).findActive({ id }))?.project as ProjectEntity;
  const server = plinth.app.get(ProjectsService).serverOf(project);
  return { id, slots: new FeedSlots(server, project.databaseName, id, 1024 * MIB) };
}

const anchorOf = ({ id }: Pick<TestProject, 'id'>): string =>
  `plinth_feed_${id.replaceAll(/[^0-9a-z]/g, '')}`;

/** @param before only slots that keep the log from before this position */
async function slotsOf(project: Pick<TestProject, 'id'>, before = 'FFFFFFFF/FFFFFFFF'): Promise<Slot[]> {
  return asSuperuser('postgres', async (client) => {
    const text = `select slot_name as name, temporary, active_pid as pid from pg_replication_slots
      where starts_with(slot_name, $1) and coalesce(restart_lsn, '0/0') < $2 order by temporary`;
    return (await client.query<Slot>(text, [anchorOf(project), before])).rows;
  });
}

/** Seed slots from which the slots of feeds are copied. */
const seeds = (): Promise<string[]> =>
  asSuperuser('postgres', async (client) => {
    const text = `select slot_name as name from pg_replication_slots
      where slot_name ~ '^plinth_feed_seed_' and confirmed_flush_lsn is not null`;
    return (await client.query<{ name: string }>(text)).rows.map(({ name }) => name);
  });

async function newProject(): Promise<TestProject> {
  const project = await plinth.createProject();
  await project.sql(`create table t (id int primary key, filler text); alter table t disable row level security;
    create publication supabase_realtime for table t`);
  return project;
}

async function listenTo(
  project: TestProject,
  headers: Record<string, string> = {},
  { baseUrl } = plinth,
): Promise<EventReader> {
  const reader = await listen(Object.assign(project.anon, { baseUrl }), '/rest/v1/t', headers);
  open.push(reader);
  return reader;
}

const idsOf = (reader: EventReader): number[] => reader.of('INSERT').map(({ record }) => record.id as number);
const endSenders = (project: TestProject): Promise<unknown> =>
  asSuperuser('postgres', (client) =>
    client.query(
      'select pg_terminate_backend(active_pid) from pg_replication_slots where starts_with(slot_name, $1) and active_pid is not null',
      [anchorOf(project)],
    ),
  );

describe('the slots of a project', () => {
  it('are a permanent slot and a temporary slot in each process, and are dropped some time after the last subscriber left', async () => {
    const replica = await TestPlinth.start({ replicaOf: plinth, tuning });
    try {
      const project = await newProject();
      expect(await slotsOf(project)).toEqual([]);
      const here = await listenTo(project);
      const there = await listenTo(project, {}, replica);
      expect((await slotsOf(project)).map(({ temporary }) => temporary)).toEqual([false, true, true]);
      await project.sql('insert into t values (1)');
      await until(() => idsOf(here).length === 1 && idsOf(there).length === 1);
      await until(async () => {
        const { text } = await plinth.admin.get('/metrics');
        const shown = ['change_subscriptions 1', 'change_feeds 1', 'change_messages 1', 'change_lag_bytes 0'];
        return shown.every((line) => text.includes(`\nplinth_${line}\n`)) && KEPT_LOG.test(text);
      });
      await here.close();
      await there.close();
      await until(async () => (await slotsOf(project)).length === 0);
    } finally {
      await replica.stop();
    }
  });

  it('are read again after a lost connection, in order and without a gap', async () => {
    const project = await newProject();
    const reader = await listenTo(project);
    for (let n = 0; n < 40; n += 1) {
      await project.sql(`insert into t select n from generate_series(${n * 5}, ${n * 5 + 4}) n`);
      if (n % 10 === 5) await endSenders(project);
    }
    await until(() => idsOf(reader).length >= 200);
    expect(idsOf(reader)).toEqual(Array.from({ length: 200 }, (_, n) => n));
    expect(reader.of('system')).toEqual([]);
  });

  it('that are lost cause a reported gap, and the stream continues', async () => {
    const project = await newProject();
    const reader = await listenTo(project);
    await project.sql('insert into t values (1)');
    await until(() => idsOf(reader).length === 1);
    // One statement, so that no sender reads what it writes to the log: otherwise no change is lost.
    await asSuperuser('postgres', (client) =>
      client.query(
        `with ended as materialized (select pg_terminate_backend(active_pid) from pg_replication_slots
           where starts_with(slot_name, $1) and active_pid is not null),
           all_ended as (select count(*) from ended)
         select pg_drop_replication_slot($1), pg_logical_emit_message(false, 'lost', 'x') from all_ended`,
        [anchorOf(project)],
      ),
    );
    await until(() => reader.of('system').length > 0);
    expect(reader.of('system')[0]).toMatchObject({ status: 'error', reason: 'gap' });
    await project.sql('insert into t values (2)');
    await until(() => idsOf(reader).includes(2));
    const [{ position }] = reader.of('INSERT');
    const late = await listenTo(project, { 'last-event-id': String(position) });
    await until(() => late.of('system').length > 0);
    expect(late.of('system')[0]).toMatchObject({ reason: 'gap' });
  });

  it('do not keep more log than the bound, so a long transaction causes a gap', async () => {
    const bounded = await TestPlinth.start({ replicaOf: plinth, tuning: LITTLE_LOG });
    const [project, neighbour] = [await newProject(), await newProject()];
    const access = await accessOf(plinth, project.id);
    const readers = [await listenTo(project, {}, bounded), await listenTo(neighbour, {}, bounded)] as const;
    const [reader] = readers;
    await asOwner(access, async (client) => {
      await client.query('begin; create table held (id int)');
      await project.sql(
        'create table bulk (filler text); alter table bulk alter filler set storage external',
      );
      await project.sql('insert into bulk select repeat(md5(n::text), 100) from generate_series(1, 12000) n');
      // All slots share the log of the server, so together they keep as much as the oldest slot.
      for (const one of readers)
        await until(() => one.of('system').some(({ message }) => message.includes('too much of its log')));
      const [{ position }] = await project.sql('select pg_current_wal_lsn()::text as position');
      // New slots are being created, and wait for the transaction.
      await until(async () => {
        const old = [await slotsOf(project, String(position)), await slotsOf(neighbour, String(position))];
        return old.flat().length === 0;
      });
      await client.query('rollback');
    });
    await until(async () => {
      await project.sql('insert into t select coalesce(max(id), 0) + 1 from t');
      return idsOf(reader).length > 0;
    });
    for (const one of readers) await one.close();
    await bounded.stop();
  });

  it('of a new feed do not wait for transactions of other projects that write', async () => {
    const [project, other] = [await newProject(), await newProject()];
    await until(async () => (await seeds()).length > 0);
    await asOwner(await accessOf(plinth, other.id), async (client) => {
      await client.query('begin; create table held (id int)');
      await project.sql(`alter table t add late text; insert into t values (1)`);
      const reader = await listenTo(project);
      expect(reader.status).toBe(200);
      await project.sql(`insert into t (id, late) values (2, 'x'); alter table t add later int default 3`);
      await project.sql('insert into t (id) values (4)');
      await until(() => idsOf(reader).length === 2);
      expect(reader.of('INSERT').map(({ record }) => record)).toMatchObject([
        { id: 2, late: 'x' },
        { id: 4, later: 3 },
      ]);
      expect(reader.of('system')).toEqual([]);
      await client.query('rollback');
    });
  });

  it('of a new feed are copied from a seed slot that does not fall behind', async () => {
    const project = await newProject();
    await until(async () => (await seeds()).length > 0);
    const [before] = await seeds();
    await asSuperuser('postgres', (client) =>
      client.query(
        `select pg_logical_emit_message(false, 'fill', repeat('x', 1000000)) from generate_series(1, 20)`,
      ),
    );
    await until(async () => {
      const found = await seeds();
      return found.length > 0 && !found.includes(before as string);
    });
    const reader = await listenTo(project);
    await project.sql('insert into t values (1)');
    await until(() => idsOf(reader).length === 1);
    expect(reader.of('system')).toEqual([]);
  });

  it('continue after a row that an output function of the owner prints with 60 MB', async () => {
    const project = await newProject();
    await project.sql(`create type big as enum ('a');
      create function printed(big) returns json language sql immutable as $$ select to_json(repeat('x', 60000000)) $$;
      create cast (big as json) with function printed(big); alter table t add column big big`);
    const reader = await listenTo(project);
    await project.sql("insert into t (id, big) values (1, 'a')");
    await until(() => reader.of('system').length > 0);
    const [told] = reader.of('system');
    // On a busy machine the row exceeds the time limit of a check, which ends the subscription.
    const isLate = told?.reason === 'unavailable';
    expect([told?.reason, told?.message]).toEqual(
      isLate
        ? ['unavailable', "the table's policies took too long"]
        : ['gap', expect.stringContaining('a row was too large')],
    );
    const next = isLate ? await listenTo(project) : reader;
    expect(next.status).toBe(200);
    await until(async () => {
      await project.sql('insert into t (id) select max(id) + 1 from t');
      return idsOf(next).length > 0;
    });
  });

  it('are complete when a subscriber comes at the moment of their removal', async () => {
    const { id, slots } = await slotsOfFeed(await newProject());
    const first = await slots.open();
    first.connection.close();
    for (let round = 0; round < 24; round += 1) {
      const pause = new Promise((resolve) => setTimeout(resolve, round % 12));
      const removal = pause.then(() => slots.use((client) => slots.dropIfUnused(client)));
      const { connection } = await slots.open();
      await removal;
      expect((await slotsOf({ id })).map(({ temporary }) => temporary)).toEqual([false, true]);
      connection.close();
      await until(async () => (await slotsOf({ id })).length === 1);
    }
  });

  it('are dropped with the project, and do not block its deletion', async () => {
    const project = await newProject();
    const reader = await listenTo(project);
    expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).status).toBe(200);
    await until(async () => (await slotsOf(project)).length === 0);
    expect(await reader.ended).toBe(true);
  });

  it('whose name another database uses are refused, and not dropped', async () => {
    const project = await newProject();
    await asSuperuser('postgres', (client) =>
      client.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [anchorOf(project)]),
    );
    try {
      const answer = await listenTo(project);
      expect(answer.status).toBe(503);
      expect((await slotsOf(project)).length).toBe(1);
    } finally {
      await asSuperuser('postgres', (client) =>
        client.query('select pg_drop_replication_slot($1)', [anchorOf(project)]),
      );
    }
  });

  it('that a killed process left are dropped by the next start, and named by the doctor', async () => {
    const project = await newProject();
    const { database } = await accessOf(plinth, project.id);
    await asSuperuser(database, (client) =>
      client.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [anchorOf(project)]),
    );
    const findings = (await plinth.admin.post('/admin/v1/doctor', {})).body.findings as {
      check: string;
      message: string;
    }[];
    expect(findings.find(({ check }) => check === 'changes')?.message).toMatch(
      /\d+ slots for changes of tables keep \d+ MiB/,
    );
    const next = await TestPlinth.start({ replicaOf: plinth, tuning });
    try {
      await until(async () => (await slotsOf(project)).length === 0);
    } finally {
      await next.stop();
    }
  });
});

describe('a server with another wal_level', () => {
  it('answers 503 with the reason, and the doctor says what to set', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'plinth-changes-'));
    const postgres = await EmbeddedPostgres.start({
      dataDir,
      settings: { fsync: 'off', wal_level: 'replica' },
    });
    const other = await TestPlinth.start({ databaseUrl: postgres.url, tuning });
    try {
      const project = await TestProject.create(other, {});
      await project.sql(
        'create table t (id int primary key); create publication supabase_realtime for table t',
      );
      const answer = await project.service.get('/rest/v1/t', { headers: { accept: 'text/event-stream' } });
      expect([answer.status, answer.body.detail.message]).toEqual([
        503,
        'Changes cannot be followed: wal_level of the database server is "replica", not "logical"',
      ]);
      const { findings } = (await other.admin.post('/admin/v1/doctor', {})).body as {
        findings: { check: string; remedy: string }[];
      };
      expect(findings.find(({ check }) => check === 'changes')?.remedy).toContain("wal_level = 'logical'");
    } finally {
      await other.stop();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 60_000);
});

describe('a server that somebody else administers', () => {
  it('is refused without REPLICATION or free slots, and reports a gap if it removed the log of a slot', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'plinth-changes-'));
    const postgres = await EmbeddedPostgres.start({
      dataDir,
      settings: {
        fsync: 'off',
        wal_level: 'logical',
        max_replication_slots: '4',
        min_wal_size: '32MB',
        max_wal_size: '32MB',
        max_slot_wal_keep_size: '1MB',
      },
    });
    const server = new Client(postgres.url);
    await server.connect();
    await server.query(`create role manager login createdb createrole password 'manager'; create role plinth_logins;
      grant plinth_logins to manager with admin option;
      alter database postgres owner to manager; alter schema public owner to manager`);
    const url = Object.assign(new URL(postgres.url), { username: 'manager', password: 'manager' });
    const other = await TestPlinth.start({ databaseUrl: url.href, tuning });
    try {
      const found = async (): Promise<string> => (await other.admin.post('/admin/v1/doctor', {})).text;
      const make = async (): Promise<TestProject> => {
        const project = await TestProject.create(other, {});
        await project.sql(`create table t (id int primary key); create policy everybody on t for select using (true);
          create publication supabase_realtime for table t`);
        return project;
      };
      const [project, neighbour] = [await make(), await make()];
      const refusal = async ({ service }: TestProject): Promise<unknown> => {
        const answer = await service.get('/rest/v1/t', { headers: { accept: 'text/event-stream' } });
        return [answer.status, answer.body.detail.message];
      };
      expect(await refusal(project)).toEqual([
        503,
        "Changes cannot be followed: Plinth's role on the database server lacks REPLICATION",
      ]);
      expect(await found()).toContain('Run alter role ... replication');
      await server.query('alter role manager replication');
      // The seed and the two slots of the reader leave one slot, and a feed needs two.
      const seed = `select from pg_replication_slots where slot_name ~ '^plinth_feed_seed_'`;
      await until(async () => (await server.query(seed)).rowCount === 1);
      const reader = await listenTo(project, {}, other);
      await project.sql('insert into t values (1)');
      await until(() => idsOf(reader).length === 1);
      expect(await refusal(neighbour)).toEqual([
        503,
        'Changes cannot be followed: all replication slots or senders of the database server are in use (max_replication_slots, max_wal_senders)',
      ]);
      expect(await found()).toContain('Raise max_replication_slots and max_wal_senders');
      // A refused feed keeps no log.
      const anchor = 'select from pg_replication_slots where slot_name = $1';
      await until(async () => (await server.query(anchor, [anchorOf(neighbour)])).rowCount === 0);

      // The server removes its log although a slot needs it.
      const isLost = async (): Promise<boolean> => {
        await server.query(
          `select pg_logical_emit_message(false, 'fill', repeat('x', 1000000)) from generate_series(1, 40)`,
        );
        await server.query('checkpoint');
        // Until the lost slots are dropped, a new feed gets no slot: `unavailable`.
        return reader.of('system').some(({ reason }) => reason === 'gap');
      };
      await until(isLost);
      await until(async () => {
        await project.sql('insert into t select max(id) + 1 from t');
        return idsOf(reader).length > 1;
      });
      await reader.close();
    } finally {
      await other.stop();
      await server.end();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 120_000);
});
