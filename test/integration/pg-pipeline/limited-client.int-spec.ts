/** node-postgres' own queries, limited in the memory that their results take. */
import { LimitedClient, type MessageLimits } from '../../../src/pg-pipeline';
import { serverConfig } from '../../support/pipeline-server';

async function withClient<T>(
  limits: Partial<MessageLimits>,
  work: (client: LimitedClient) => Promise<T>,
): Promise<T> {
  const all: MessageLimits = { admitsRow: () => true, admitsNotice: () => true, ...limits };
  const client = new LimitedClient({ ...serverConfig(), limits: all });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

it('drops rows above the limit', async () => {
  const rows = await withClient({ admitsRow: (bytes) => bytes < 1_000 }, async (client) => {
    const answer = await client.query(
      `select n, repeat('x', case n when 2 then 3000000 else 1 end) from generate_series(1, 3) n`,
    );
    return answer.rows as unknown[];
  });
  expect(rows).toEqual([
    { n: 1, repeat: 'x' },
    { n: 3, repeat: 'x' },
  ]);
});

it('drops notices beyond the limit, and truncates long errors', async () => {
  let notices = 0;
  const failing = withClient({ admitsNotice: () => false }, async (client) => {
    client.on('notice', () => (notices += 1));
    await client.query(`do $$ begin raise notice 'n'; raise exception '%', repeat('x', 3000000); end $$`);
  });
  await expect(failing).rejects.toThrow(/^x{15000,17000}…$/);
  expect(notices).toBe(0);
});

it('reports the start of results and the end of statements, and server errors first', async () => {
  const events: string[] = [];
  await withClient({}, async (client) => {
    client.onResults(
      () => events.push('begin'),
      () => events.push('end'),
    );
    client.onServerError((error) => (error.message = 'another text'));
    await client.query('select 1; set application_name = default; select 2');
    await expect(client.query('select 1 / 0')).rejects.toThrow('another text');
  });
  expect(events).toEqual(['begin', 'end', 'end', 'begin', 'end']);
});

it('fails the running query when it is aborted', async () => {
  await withClient({}, async (client) => {
    const query = client.query('select pg_sleep(60)');
    client.abort(new Error('enough'));
    await expect(query).rejects.toThrow('enough');
  });
});
