/** The command line as a program, with the data directory of a server. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESS_ADMIN_KEY } from '../../support/plinth-process';
import { type Outcome, runCommandLine } from '../support/command-line';
import { directory } from './install';

/** The record of the running server. */
let record: Buffer;

const KEY = { PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY };

const listProjects = (folder = directory, env = {}): Promise<Outcome> =>
  runCommandLine(folder, ['project', 'list'], { ...KEY, ...env });

const recordIn = (dataDir: string): string => join(dataDir, 'server.json');

/** Leaves the record of a killed server, for a start that replaces it. */
export async function leaveRecordOfKilledServer(dataDir: string): Promise<void> {
  const server = { pid: process.pid, host: '127.0.0.1', port: 1, publicUrl: 'http://localhost:1' };
  writeFileSync(recordIn(dataDir), JSON.stringify(server), { mode: 0o600 });
}

export const commandLine = (): void =>
  it('the command line finds the port of the server in its data directory', async () => {
    expect(await listProjects()).toMatchObject({ code: 0, err: '' });
    const other = await listProjects('/', { DATA_DIR: join(directory, 'data') });
    expect(other).toMatchObject({ code: 0, err: '' });
    record = readFileSync(recordIn(join(directory, 'data')));
  });

/** Restores the record of a server that has ended and removed it, because a killed server leaves its record. */
export async function expectNoServerFound(): Promise<void> {
  expect(existsSync(recordIn(join(directory, 'data')))).toBe(false);
  writeFileSync(recordIn(join(directory, 'data')), record, { mode: 0o600 });
  const { code, err } = await listProjects();
  expect([code, err]).toEqual([
    4,
    expect.stringMatching(
      /^No Plinth answers on http:\/\/127\.0\.0\.1:8080 .*; if it has its own DATA_DIR, PORT or PUBLIC_URL, set the same here\.\n$/,
    ),
  ]);
}
