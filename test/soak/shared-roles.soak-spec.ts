/**
 * An owner creates thousands of roles, grants them to the roles of all requests and to another project's login role, and the
 * server has many databases: requests and reloads of the schema of the other project take as long as before. The phases share
 * one run, so their ratios can be compared.
 */
import { eventually } from '../support/eventually';
import { type DatabaseAccess, accessOf, asOwner, asSuperuser } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import type { TestProject } from '../support/test-project';

const ROLES = Number(process.env.PLINTH_ROLES ?? 5_000);
const DATABASES = Number(process.env.PLINTH_DATABASES ?? 1_000);
const TABLES = 100;
const RELOADS = 12;
const REQUESTS = 1_500;
/** Largest ratio of the times, because a reload of a few milliseconds varies. */
const LARGEST_RATIO = 2;

let plinth: TestPlinth;
let victim: TestProject;
let [ofAttacker, ofVictim]: DatabaseAccess[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  const attacker = await plinth.createProject();
  victim = await plinth.createProject();
  [ofAttacker, ofVictim] = [await accessOf(plinth, attacker.id), await accessOf(plinth, victim.id)];
  await victim.sql(`create table notes (id int primary key); insert into notes values (1);
    create policy everybody on notes to authenticated, anon using (true);
    do $$ begin for i in 1..${TABLES} loop
      execute format('create table t%s (id int primary key); create policy p on t%1$s to authenticated using (true)', i);
    end loop; end $$`);
}, 60_000);
afterAll(async () => {
  await asSuperuser('postgres', async (client) => {
    for (let i = 1; i <= DATABASES; i += 1) await client.query(`drop database if exists many_${i}`);
  });
  await plinth.stop();
}, 600_000);

const quantile = (times: number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? NaN;

async function measured(): Promise<{ p99: number; reload: number }> {
  const clients = [victim.anon, victim.asSubject(), victim.service];
  const times: number[] = [];
  for (let i = 0; i < REQUESTS; i += 1) {
    const begin = performance.now();
    expect((await clients[i % clients.length]?.get('/rest/v1/notes'))?.status).toBe(200);
    times.push(performance.now() - begin);
  }
  const reloads: number[] = [];
  for (let i = 0; i < RELOADS; i += 1) {
    const begin = performance.now();
    await victim.sql(`create table reload_${i} ()`);
    await eventually(async () => expect((await victim.service.get(`/rest/v1/reload_${i}`)).status).toBe(200));
    reloads.push(performance.now() - begin);
  }
  await victim.sql(Array.from({ length: RELOADS }, (_, i) => `drop table reload_${i}`).join('; '));
  return { p99: quantile(times, 0.99), reload: quantile(reloads, 0.5) };
}

/** Number of memberships that grant the foreign roles to roles of others. */
const memberships = async (): Promise<number> =>
  asSuperuser('postgres', async (client) => {
    const { rowCount } = await client.query(
      `select from pg_auth_members where roleid::regrole::text like 'foreign\\_%' and member::regrole::text <> $1`,
      [ofAttacker?.owner_role],
    );
    return rowCount ?? 0;
  });

it(`a project is as fast as before with ${ROLES} foreign roles and ${DATABASES} databases`, async () => {
  await measured();
  const before = await measured();
  await asOwner(ofAttacker as DatabaseAccess, async (client) => {
    for (let first = 0; first < ROLES; first += 500)
      await client.query(`do $$ begin for i in ${first + 1}..${Math.min(first + 500, ROLES)} loop
        execute format('create role foreign_%s', i);
        execute format('grant foreign_%s to anon, authenticated, service_role with inherit true', i);
        execute format('grant foreign_%s to %I with inherit true', i, '${ofVictim?.login_role}');
      end loop; end $$`);
  });
  await asSuperuser('postgres', async (client) => {
    for (let i = 1; i <= DATABASES; i += 1)
      await client.query(`create database many_${i} template template0 strategy file_copy`);
  });
  const left = await memberships();
  const after = await measured();
  const ratios = { p99: after.p99 / before.p99, reload: after.reload / before.reload };
  process.stdout.write(`${JSON.stringify({ before, left, after, ratios })}\n`);
  expect(ratios.p99).toBeLessThan(LARGEST_RATIO);
  expect(ratios.reload).toBeLessThan(LARGEST_RATIO);
}, 900_000);
