/**
 * Megabytes in an account or an error text, written by a project's owner, do not fill the memory of the process, which serves
 * all projects.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { HttpClient } from '../../support/http-client';
import { plinth } from './install';

const MIB = 1024 * 1024;
const VALUE_BYTES = 60 * MIB;
const CREDENTIALS = { email: 'ada@example.com', password: 'correct horse' };

let auth: string;
let guest: HttpClient;
let service: HttpClient;
let sql: (query: string) => Promise<void>;

async function createProject(): Promise<void> {
  const { id, anon_key, service_role_key } = (
    await plinth.admin.post('/admin/v1/projects', { name: 'Hostile' })
  ).body;
  auth = `/v1/auth/${id}`;
  guest = new HttpClient(plinth.baseUrl, { apikey: anon_key });
  service = guest.with({ authorization: `Bearer ${service_role_key}` });
  sql = async (query) => {
    const answer = await plinth.admin.post(`/admin/v1/projects/${id}/sql`, { query });
    expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  };
  expect((await guest.post(`${auth}/signup`, CREDENTIALS)).status).toBe(201);
  await sql('alter table auth.users drop constraint users_name_check');
}

function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${plinth.child.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

const ASKS: (() => Promise<{ status: number }>)[] = [
  () => guest.post(`${auth}/login`, CREDENTIALS),
  () => service.with({ apikey: guest.headers.apikey ?? '' }).get(`${auth}/admin/users`),
];

export const PLACES: readonly (readonly [place: string, query: string])[] = [
  ['in data, as text', `update auth.users set data = jsonb_build_object('a', repeat('x', ${VALUE_BYTES}))`],
  ['in a name', `update auth.users set data = '{}', name = repeat('x', ${VALUE_BYTES})`],
  [
    'in an error text',
    `update auth.users set name = 'Ada';
     create function public.fails() returns trigger language plpgsql as $f$ begin
       raise exception '%', repeat('x', ${VALUE_BYTES}) using detail = repeat('y', ${VALUE_BYTES}); end $f$;
     create trigger fails before update on auth.users for each row execute function public.fails()`,
  ],
  [
    'in data, as a list of numbers',
    `drop trigger fails on auth.users;
     update auth.users set data = jsonb_build_object('a', (select jsonb_agg(n) from generate_series(1, 7800000) n))`,
  ],
];

// Memory of a process is read from /proc.
export const hostileRows = (places: typeof PLACES): void =>
  (platform() === 'linux' ? describe : describe.skip)('an owner who stores 60 MiB', () => {
    beforeAll(createProject, 60_000);
    it.each(places)(
      '%s takes less memory than its value, and gets a valid response',
      async (_where, query) => {
        await sql(query);
        for (const ask of ASKS) await ask();
        const before = memory('VmRSS');
        writeFileSync(`/proc/${plinth.child.pid}/clear_refs`, '5');
        for (const ask of ASKS) expect([200, 400, 500]).toContain((await ask()).status);
        expect(memory('VmHWM') - before).toBeLessThan(VALUE_BYTES);
        expect((await plinth.admin.get('/health/ready')).status).toBe(200);
      },
      120_000,
    );
  });
