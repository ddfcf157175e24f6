/** A restore ends when its client disconnects, whatever the archived SQL does. */
import { once } from 'node:events';
import { request } from 'node:http';
import { backUp, PASSPHRASE, restore } from '../../support/backups';
import { eventually } from '../../support/eventually';
import { forged } from '../../support/forged-archives';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';

const ENDLESS = 'select pg_catalog.pg_sleep(1e9);';
/** Ends the transaction of the restore, catches a cancellation and leaves the owner no further connection. */
const STUBBORN = `commit; do $do$ begin
  execute format('alter database %I connection limit 1', pg_catalog.current_database());
end $do$; do $do$ begin
  loop
    begin
      perform pg_catalog.pg_sleep(1e9);
    exception when query_canceled then null;
    end;
  end loop;
end $do$;`;

let plinth: TestPlinth;
let id: string;
let archive: Buffer;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  const project = await plinth.createProject();
  await project.sql('create table notes (n int)');
  id = project.id;
  archive = await backUp(plinth, id);
  await plinth.admin.delete(`/admin/v1/projects/${id}`);
}, 60_000);
afterAll(() => plinth.stop());

async function count(from: string): Promise<number> {
  return asSuperuser('postgres', async (client) => {
    const { rows } = await client.query(`select count(*)::int as n from ${from}`, [`plinth_${id}`]);
    return rows[0].n as number;
  });
}

it.each([
  ['schema/pre-data.sql', ENDLESS],
  ['schema/post-data.sql', ENDLESS],
  ['schema/post-data.sql', STUBBORN],
])(
  'during endless SQL in %s (%s)',
  async (member, sql) => {
    const hostile = await forged(archive, ({ members }) => {
      members.set(member, Buffer.concat([members.get(member) ?? Buffer.alloc(0), Buffer.from(`\n${sql}\n`)]));
    });
    const client = request(`${plinth.baseUrl}/admin/v1/restore`, {
      method: 'POST',
      headers: {
        ...plinth.admin.headers,
        'backup-passphrase': encodeURIComponent(PASSPHRASE),
        'content-length': hostile.length,
      },
    });
    client.on('error', () => undefined);
    const sent = once(client, 'finish');
    client.end(hostile);
    const sleeping = `pg_stat_activity where datname = $1 and wait_event = 'PgSleep'`;
    await eventually(async () => expect(await count(sleeping)).toBe(1));
    // The whole archive was sent, so only the disconnection can end the restore.
    await sent;
    client.destroy();
    await eventually(async () => {
      expect(await count('pg_database where datname = $1')).toBe(0);
      expect(await count(`pg_roles where rolname like $1 || '\\_%'`)).toBe(0);
    });
    // The id of the project is free again.
    await eventually(async () => expect((await restore(plinth, archive)).status).toBe(201));
    await plinth.admin.delete(`/admin/v1/projects/${id}`);
  },
  60_000,
);
