/** Requests that a client sends without waiting for the responses before them (RFC 9112, 9.3.2). */
import { eventually } from '../../support/eventually';
import { openFilesBelow } from '../../support/open-files';
import { TestPlinth } from '../../support/plinth';
import { headOf, type RawClient, rawClient } from '../../support/slow-clients';
import type { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const MIB = 1024 * 1024;
/** More than the kernel buffers of an unread response. */
const LARGE_FILE = 16 * MIB;
const SQL = `
  create table t (a int); create policy p on t for all using (true) with check (true);
  create view large with (security_invoker) as select repeat('x', 1000) as a from generate_series(1, 60000);
  create function echo(n int) returns int stable language sql as $$ select n $$;
  create function is_alone() returns boolean language plpgsql as $$ begin
    if not pg_try_advisory_xact_lock(1) then return false; end if;
    perform pg_sleep(0.05);
    return true;
  end $$`;

let plinth: TestPlinth;
let project: TestProject;
let preview: string;
const open: RawClient[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(SQL);
  await project.service.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
  const { body } = await upload(project.service, project.storage, 'box', Buffer.alloc(LARGE_FILE));
  preview = `${project.storage}/files/${body.data.id}/preview`;
});
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.destroy();
});
afterAll(() => plinth.stop());

/** Sends requests in one piece. */
function pipeline(requests: readonly string[]): RawClient {
  const client = rawClient(plinth.baseUrl, requests.join(''));
  open.push(client);
  return client;
}

/** Sends requests in one piece, and reads only the first bytes of the first response. */
function pipelineUnread(requests: readonly string[]): RawClient {
  const client = pipeline(requests);
  client.socket.once('data', () => client.socket.pause());
  return client;
}

const get = (path: string): string => headOf(`GET ${path}`, project.service.headers);

function post(path: string, body: string, type = 'application/json'): string {
  const headers = { ...project.service.headers, 'Content-Type': type, 'Content-Length': body.length };
  return headOf(`POST ${path}`, headers) + body;
}

/** The bodies of complete responses, which must have a length. */
function bodiesOf(answers: string): string[] {
  const bodies: string[] = [];
  for (let rest = answers; ;) {
    const [head = '', after] = rest.split(/\r\n\r\n(.*)/s);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (after === undefined || !(after.length >= length)) return bodies;
    bodies.push(after.slice(0, length));
    rest = after.slice(length);
  }
}

/** Resolves when only the metrics request is running, and no request holds a connection or memory for bodies. */
async function nothingRuns(): Promise<void> {
  await eventually(async () => {
    const { text } = await plinth.admin.get('/metrics');
    expect(text).toMatch(/^plinth_http_requests_running 1$/m);
    expect(text).toMatch(/^plinth_database_streaming 0$/m);
    expect(text).toMatch(/^plinth_body_reserved_bytes 0$/m);
  }, 20_000);
}

/** Resolves when each client has received the first bytes. */
async function begun(clients: readonly RawClient[]): Promise<void> {
  await eventually(async () => expect(clients.filter(({ answer }) => answer() === '')).toEqual([]), 20_000);
}

it('are answered in their order', async () => {
  const numbers = Array.from({ length: 80 }, (_, n) => n);
  const { answer } = pipeline(numbers.map((n) => get(`/rest/v1/rpc/echo?n=${n}`)));
  await eventually(async () => expect(bodiesOf(answer())).toEqual(numbers.map(String)), 20_000);
});

it('start one at a time', async () => {
  const { answer } = pipeline(Array.from({ length: 6 }, () => post('/rest/v1/rpc/is_alone', '{}')));
  await eventually(async () => expect(bodiesOf(answer())).toHaveLength(6), 20_000);
  expect(bodiesOf(answer())).toEqual(Array.from({ length: 6 }, () => 'true'));
});

it('release database connections when their client disconnects', async () => {
  const clients = Array.from({ length: 4 }, () =>
    pipelineUnread([get('/rest/v1/large'), get('/rest/v1/large'), get('/rest/v1/large')]),
  );
  await begun(clients);
  for (const { socket } of clients) socket.destroy();
  await nothingRuns();
  const active = await project.sql(`select count(*)::int as n from pg_stat_activity
    where datname = current_database() and application_name = 'plinth' and state <> 'idle' and pid <> pg_backend_pid()`);
  expect(active).toEqual([{ n: 0 }]);
});

it('release a database connection even if the server waits for the body of the next request', async () => {
  const body = JSON.stringify({ a: 1, b: 'x'.repeat(MIB) });
  const client = pipelineUnread([get('/rest/v1/large'), post('/rest/v1/t', body)]);
  await begun([client]);
  client.socket.destroy();
  await nothingRuns();
  expect(await project.sql('select a from t')).toEqual([]);
});

it('release open files when their client disconnects', async () => {
  const clients = Array.from({ length: 10 }, () =>
    pipelineUnread(Array.from({ length: 5 }, () => get(preview))),
  );
  await begun(clients);
  // The responses that wait behind an unread one hold no file.
  expect(openFilesBelow(plinth.dataDir)).toBeLessThanOrEqual(clients.length);
  for (const { socket } of clients) socket.destroy();
  await nothingRuns();
  await eventually(async () => expect(openFilesBelow(plinth.dataDir)).toBe(0));
});

it('are dropped if their client disconnects before their turn', async () => {
  const form = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\na\r\n--x--\r\n';
  const client = pipelineUnread([
    get(preview),
    post('/rest/v1/t', '{"a":1}'),
    post(`${project.storage}/buckets/box/upload`, form, 'multipart/form-data; boundary=x'),
  ]);
  await begun([client]);
  client.socket.destroy();
  await nothingRuns();
  expect(await project.sql('select a from t')).toEqual([]);
  expect(await project.sql('select count(*)::int as files from storage.files')).toEqual([{ files: 1 }]);
});

it('close the connection if more than 100 wait', async () => {
  const { closed } = pipeline(Array.from({ length: 5_000 }, () => headOf('GET /health/live', {})));
  await closed;
  await nothingRuns();
});
