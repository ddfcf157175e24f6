/** Plinth connects by Unix socket to a server whose DATABASE_URL names one. default-install has the socket of the embedded server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { casesOf, IN_SOAK } from '../support/extent';
import { TestPlinth } from '../support/plinth';
import { PlinthProcess } from '../support/plinth-process';
import { startPostgres } from './support/first-start';
import { answerOf, expectCancelled, newSocketProject, restOf } from './support/socket-project';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-socket-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

// In the suite, embedded-postgres.proc-spec.ts tests the server without a socket.
(IN_SOAK ? it : it.skip)(
  'a data directory with a path too long for a socket is served over TCP',
  async () => {
    const deep = 'a'.repeat(100);
    const plinth = await PlinthProcess.start({
      dataDir: directory,
      env: { DATA_DIR: join(directory, deep) },
    });
    try {
      const project = await newSocketProject(plinth.admin);
      expect((await restOf(project).get('/rpc/from_where')).body).toBe('127.0.0.1');
    } finally {
      await plinth.end('SIGTERM');
    }
  },
  120_000,
);

const WAYS: readonly [string, (url: URL, socket: string) => unknown][] = [
  ['as a parameter', (url, socket) => url.searchParams.set('host', socket)],
  ['as a host', (url, socket) => (url.hostname = encodeURIComponent(socket))],
];

it.each(casesOf(WAYS, 1))(
  'DATABASE_URL may name a socket %s',
  async (_way, name) => {
    const postgres = await startPostgres({ dataDir: join(directory, 'pg') });
    try {
      const url = new URL(postgres.url);
      name(url, postgres.socketDirectory as string);
      const plinth = await TestPlinth.start({ databaseUrl: url.href });
      try {
        const project = await newSocketProject(plinth.admin);
        expect((await restOf(project).get('/rpc/from_where')).body).toBe('socket');
        expect(await answerOf(project.database.owner_url, 'select current_database() as answer')).toBe(
          project.database.database,
        );
        await expectCancelled(project);
      } finally {
        await plinth.stop();
      }
    } finally {
      await postgres.stop();
    }
  },
  120_000,
);
