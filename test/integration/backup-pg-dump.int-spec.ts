/** pg_dump as WebAssembly against a real server. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { pgDump } from '../../src/copies/dump/pg-dump';
import { freePort } from '../support/plinth-process';
import { SystemPostgres } from '../support/system-postgres';
import { issueCertificate } from '../support/test-authority';
import { TestDatabase } from '../support/test-database';

let database: TestDatabase;

beforeAll(async () => (database = await TestDatabase.create()));
afterAll(() => database.drop());

const dump = async (...args: string[]): Promise<string> =>
  (await buffer(Readable.from(pgDump(database.place, args)))).toString('utf8');

it('dumps the schema of a database', async () => {
  await database.owner.query(
    `create table "a ""quoted"" name" (id int generated always as identity primary key)`,
  );
  const text = await dump('--schema-only');
  expect(text).toMatch(/^CREATE TABLE public\."a ""quoted"" name" \($/m);
  expect(text).toMatch(/^-- PostgreSQL database dump complete$/m);
});

it('sees what an exported snapshot sees', async () => {
  await database.owner.query('begin isolation level repeatable read');
  const { rows } = await database.owner.query<{ id: string }>('select pg_export_snapshot() as id');
  const args = ['--schema-only', `--snapshot=${rows[0]?.id}`];
  const before = await dump(...args);
  const { place } = database;
  const { Client } = await import('pg');
  const other = new Client({ ...place });
  await other.connect();
  await other.query('create table later ()');
  await other.end();
  expect(stripped(await dump(...args))).toBe(stripped(before));
  await database.owner.query('commit');
  expect(await dump('--schema-only')).toContain('later');
});

it('reports an error of pg_dump', async () => {
  await expect(dump('--table=missing')).rejects.toThrow(/no matching tables were found/);
});

it('streams a dump that is larger than its memory, and ends when the reader stops', async () => {
  await database.owner.query(
    `select lo_from_bytea(0, decode(repeat(md5(n::text), 32768), 'hex')) from generate_series(1, 100) n`,
  );
  let bytes = 0;
  for await (const chunk of pgDump(database.place, ['--section=data'])) bytes += chunk.length;
  expect(bytes).toBeGreaterThan(100 * 2 ** 20);
  for await (const chunk of pgDump(database.place, ['--section=data'])) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
}, 60_000);

it('dumps over TLS, and from the primary of several hosts', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-dump-'));
  const tls = await issueCertificate(directory, 'server', ['127.0.0.1']);
  const server = await SystemPostgres.start('embedded', { tls });
  try {
    const { hostname: host, port, password } = new URL(server.url);
    const ssl = { ca: readFileSync(tls.ca) };
    const place = { host, port: Number(port), ssl, user: 'postgres', password, database: 'postgres' };
    const hosts = [
      { host, port: await freePort() },
      { host, port: place.port },
    ];
    for (const connection of [place, { ...place, ...hosts[0], hosts }]) {
      const text = await buffer(Readable.from(pgDump(connection, ['--schema-only'])));
      expect(text.toString('utf8')).toMatch(/^-- PostgreSQL database dump complete$/m);
    }
    const untrusted = pgDump({ ...place, ssl: true }, ['--schema-only']);
    await expect(buffer(Readable.from(untrusted))).rejects.toThrow(/certificate/);
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
});

const stripped = (text: string): string => text.replace(/^\\(un)?restrict .*$/gm, '');
