/**
 * If Plinth cannot start, it prints the reason in one line on standard error and exits with code 1, without stack traces,
 * repetitions and passwords.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { freePort, withCompiledCode } from '../support/plinth-process';
import { startPostgres } from './support/first-start';
import { Program, ROOT } from './support/processes';
import { canMount, SmallDisk } from './support/small-disk';
import { casesOf } from '../support/extent';

const MAIN = path.join(ROOT, 'dist/src/main.js');
const isRoot = process.getuid?.() === 0;
/** Runs a command without the privilege to listen on low ports, even as root. */
const WITHOUT_LOW_PORTS = ['setpriv', '--bounding-set', '-net_bind_service', '--'];
const canDropRights = isRoot && spawnSync('setpriv', [...WITHOUT_LOW_PORTS.slice(1), 'true']).status === 0;
/** `nobody`, which exists on every system where root runs tests, but may be unable to read root's clone. */
const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
const nobodyReadsClone =
  isRoot && spawnSync('setpriv', [...AS_NOBODY.slice(1), 'test', '-r', MAIN]).status === 0;
const SECRET = 'a-password-that-nobody-may-read';

let directory: string;
let postgres: EmbeddedPostgres;
const servers: Server[] = [];
const disks: SmallDisk[] = [];

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'plinth-faults-'));
  chmodSync(directory, 0o755);
  postgres = await startPostgres({ dataDir: path.join(directory, 'postgres') });
  // The server accepts roles that Plinth did not create, as a server of an administrator does.
  const file = path.join(directory, 'postgres/postgres/pg_hba.local.conf');
  writeFileSync(file, 'host all poor,weak 127.0.0.1/32 scram-sha-256\n', { mode: 0o644 });
  await withConnection({ connectionString: postgres.url }, (client) =>
    client.query('select pg_reload_conf()'),
  );
}, 60_000);
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  for (const disk of disks.splice(0)) disk.unmount();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

interface Fault {
  readonly title: string;
  /** Causes the fault. @param cwd directory in which Plinth is started @returns additional settings */
  readonly make: (cwd: string) => Promise<Record<string, string>> | Record<string, string>;
  /** The expected line, without its newline. */
  readonly says: RegExp;
  /** A command that runs Node. */
  readonly through?: readonly string[];
  /** False if the fault cannot be caused on this machine. */
  readonly possible?: boolean;
}

/** A server other than PostgreSQL. @returns its port */
async function serverThat(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

const databaseAt = (address: string): Record<string, string> => ({
  DATABASE_URL: `postgres://plinth:${SECRET}@${address}/plinth`,
});

const NOT_POSTGRES: [string, (socket: Socket) => void][] = [
  ['closes every connection', (socket) => socket.destroy()],
  ['speaks HTTP', (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))],
  ['speaks MySQL', (socket) => socket.end(Buffer.from('4a0000000a382e302e3336000800000041414141', 'hex'))],
  ['says nothing', () => undefined],
];

const DATABASE_FAULTS: Fault[] = [
  {
    title: 'DATABASE_URL with a wrong password',
    make: () => {
      const url = new URL(postgres.url);
      url.password = SECRET;
      return { DATABASE_URL: url.href };
    },
    says: /^DATABASE_URL: The PostgreSQL server cannot be used: .*password authentication failed for user "postgres"$/,
  },
  {
    title: 'DATABASE_URL with a role that lacks two rights',
    make: async () => {
      await withConnection({ connectionString: postgres.url }, async (client) => {
        await client.query(`create role weak login password '${SECRET}'`);
        await client.query('create database weak owner weak');
      });
      const url = new URL(postgres.url);
      [url.username, url.password, url.pathname] = ['weak', SECRET, '/weak'];
      return { DATABASE_URL: url.href };
    },
    says: /^DATABASE_URL: The PostgreSQL server cannot be used:\n {2}- the role weak lacks CREATEDB: .*\n {2}- the role weak lacks CREATEROLE: .*$/,
  },
  {
    title: 'DATABASE_URL of a port where nothing listens',
    make: async () => databaseAt(`127.0.0.1:${await freePort()}`),
    says: /^DATABASE_URL: The PostgreSQL server cannot be used: no connection to 127\.0\.0\.1:\d+: .*ECONNREFUSED.*$/,
  },
  {
    title: 'DATABASE_URL with a host that is unknown',
    make: () => databaseAt('no-such-host.invalid:5432'),
    says: /^DATABASE_URL: The PostgreSQL server cannot be used: no connection to no-such-host\.invalid:5432: .*(ENOTFOUND|EAI_AGAIN).*$/,
  },
  {
    title: 'DATABASE_URL with a database that is missing, for a role that may not create it',
    make: async () => {
      const url = new URL(postgres.url);
      await withConnection({ connectionString: postgres.url }, async (client) => {
        await client.query(`create role poor login password '${SECRET}'`);
        // Plinth does the same when it starts.
        await client.query('revoke connect on database postgres from public');
      });
      [url.username, url.password, url.pathname] = ['poor', SECRET, '/absent'];
      return { DATABASE_URL: url.href };
    },
    says: /^DATABASE_URL: The PostgreSQL server cannot be used: the database "absent" does not exist and cannot be created: permission denied for database "postgres"$/,
  },
  {
    title: 'DATABASE_URL that is not a URL',
    make: () => ({ DATABASE_URL: `postgres://plinth:${SECRET}#@127.0.0.1/plinth` }),
    says: /^The configuration is not valid:\n {2}- DATABASE_URL must be an address such as postgres:.*$/,
  },
  ...NOT_POSTGRES.map(([what, behave]): Fault => ({
    title: `DATABASE_URL of a server that ${what}`,
    make: async () => databaseAt(`127.0.0.1:${await serverThat(behave)}`),
    says: /^DATABASE_URL: The PostgreSQL server cannot be used: no connection to 127\.0\.0\.1:\d+: .* \(is it a PostgreSQL server\?\)$/,
  })),
];

const DIRECTORY_FAULTS: Fault[] = [
  {
    title: 'a key file that is empty',
    make: () => {
      const DATA_DIR = path.join(directory, 'emptied');
      mkdirSync(DATA_DIR, { recursive: true });
      writeFileSync(path.join(DATA_DIR, 'master-key'), '\n');
      return { DATA_DIR };
    },
    says: /^DATA_DIR cannot be used: .*\/master-key is empty: restore it from a backup, or remove it if there is no project yet$/,
  },
  {
    title: 'DATA_DIR that is a file',
    make: () => ({ DATA_DIR: fileAt('file') }),
    says: /^DATA_DIR cannot be used: .*\/file.* is not a directory$/,
  },
  {
    title: 'DATA_DIR that is a file, with both keys given',
    make: () => ({ DATA_DIR: fileAt('file'), MASTER_KEY: 'm'.repeat(32) }),
    says: /^DATA_DIR cannot be used: .*\/file.* is not a directory$/,
  },
  {
    title: 'DATA_DIR below a file',
    make: () => ({ DATA_DIR: path.join(fileAt('file'), 'below') }),
    says: /^DATA_DIR cannot be used: .*\/file.* is not a directory$/,
  },
  {
    title: 'DATA_DIR that may not be written',
    make: () => {
      const dir = path.join(directory, 'closed');
      mkdirSync(dir, { recursive: true });
      chmodSync(dir, 0o500);
      return { DATA_DIR: path.join(dir, 'data') };
    },
    says: /^DATA_DIR cannot be used: EACCES: permission denied, .*\/closed\/.*$/,
    through: isRoot ? AS_NOBODY : [],
    possible: !isRoot || nobodyReadsClone,
  },
  {
    title: 'DATA_DIR on a file system that is read-only',
    make: () => ({ DATA_DIR: readOnly() }),
    says: /^DATA_DIR cannot be used: EROFS: read-only file system, .*\/plinth-disk-.*$/,
    possible: canMount,
  },
  {
    title: 'DATA_DIR on a file system that is read-only, with both keys given',
    make: () => ({ DATA_DIR: readOnly(), MASTER_KEY: 'm'.repeat(32) }),
    says: /^DATA_DIR cannot be used: EROFS: read-only file system, .*\/plinth-disk-.*$/,
    possible: canMount,
  },
  {
    title: 'STORAGE_URL on a file system that is read-only',
    make: () => ({ DATABASE_URL: postgres.url, STORAGE_URL: pathToFileURL(readOnly()).href }),
    says: /^STORAGE_URL cannot be used: EROFS: read-only file system, .*\/plinth-disk-.*$/,
    possible: canMount,
  },
  {
    title: 'a .env that is a directory',
    make: (cwd) => {
      mkdirSync(path.join(cwd, '.env'));
      return {};
    },
    says: /^\.env cannot be read: EISDIR: .*$/,
  },
];

const ADDRESS_FAULTS: Fault[] = [
  {
    title: 'PORT that is taken',
    make: async () => ({ PORT: String(await serverThat(() => undefined)) }),
    says: /^Port \d+ on 127\.0\.0\.1 is taken: stop what listens there, or set PORT to another one\.$/,
  },
  {
    title: 'HOST of another machine',
    make: () => ({ HOST: '192.0.2.1' }),
    says: /^HOST must be an address of this machine, such as 127\.0\.0\.1, or 0\.0\.0\.0 for all of them; 192\.0\.2\.1 is none \(EADDRNOTAVAIL\)\.$/,
  },
  {
    title: 'HOST that is unknown',
    make: () => ({ HOST: 'no-such-host.invalid' }),
    says: /^HOST must be an address of this machine, .*; no-such-host\.invalid is none \((ENOTFOUND|EAI_AGAIN)\)\.$/,
  },
  {
    title: 'PORT below 1024 without the right to it',
    make: () => ({ PORT: '443' }),
    says: /^Port 443 on 127\.0\.0\.1 is not allowed to this user: set PORT to 1024 or more, or start Plinth with the capability CAP_NET_BIND_SERVICE\.$/,
    through: WITHOUT_LOW_PORTS,
    possible: canDropRights,
  },
  {
    title: 'EMBEDDED_DATABASE_PORT that is taken',
    make: async () => ({ EMBEDDED_DATABASE_PORT: String(await serverThat(() => undefined)) }),
    says: /^Creating the database .*\nPort \d+ on 127\.0\.0\.1, the embedded PostgreSQL's, is taken: stop what listens there, or set EMBEDDED_DATABASE_PORT to a free port\.$/,
  },
  {
    title: 'invalid numbers',
    make: () => ({ PORT: '99999', WORKERS: 'many' }),
    says: /^The configuration is not valid:\n {2}- PORT must be a whole number from 1 to 65535\n {2}- WORKERS must be a whole number from 1 to 64$/,
  },
  {
    title: 'REDIS_URL of a port where nothing listens',
    make: async () => ({ REDIS_URL: `redis://:${SECRET}@127.0.0.1:${await freePort()}` }),
    says: /^Redis at 127\.0\.0\.1:\d+ \(REDIS_URL\) cannot be used: .*ECONNREFUSED.*$/,
  },
  {
    title: 'REDIS_URL of a server that speaks HTTP',
    make: async () => {
      const port = await serverThat((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      );
      return { REDIS_URL: `redis://:${SECRET}@127.0.0.1:${port}` };
    },
    says: /^Redis at 127\.0\.0\.1:\d+ \(REDIS_URL\) cannot be used: .*$/,
  },
];

describe('npm start reports in one line', () => {
  for (const fault of [ADDRESS_FAULTS, DIRECTORY_FAULTS, DATABASE_FAULTS].flatMap((one) => casesOf(one, 2))) {
    (fault.possible === false ? it.skip : it)(
      fault.title,
      async () => {
        const program = await started(fault);
        expect(await program.exited).toEqual({ code: 1, signal: null });
        expect(program.output.replace(/\n$/, '')).toMatch(fault.says);
        expect(program.output).not.toContain(SECRET);
      },
      60_000,
    );
  }
});

describe('npm start without a registry to install from', () => {
  it('reports the registry and the remedy in one line, and leaves nothing behind', async () => {
    const clone = path.join(directory, 'clone');
    for (const part of ['scripts', 'package.json', 'package-lock.json'])
      cpSync(path.join(ROOT, part), path.join(clone, part), { recursive: true });
    const registry = `http://127.0.0.1:${await freePort()}/`;
    const program = Program.start(process.execPath, [path.join(clone, 'scripts/start.mjs')], {
      env: {
        PATH: process.env.PATH,
        HOME: directory,
        npm_config_registry: registry,
        npm_config_cache: path.join(directory, 'npm-cache'),
        npm_config_fetch_retries: '0',
      },
    });
    expect(await program.exited).toEqual({ code: 1, signal: null });
    const [step, line, ...rest] = program.output.trimEnd().split('\n');
    expect(step).toMatch(/^Installing dependencies/);
    expect(line).toBe(
      `The dependencies cannot be installed: ${registry} cannot be reached (ECONNREFUSED). ` +
        'Connect this machine to it, or set another registry or a proxy: npm config set registry URL, npm config set proxy URL.',
    );
    expect(rest).toEqual([]);
    expect(readdirSync(path.join(clone, '.tmp'))).toEqual([]);
  }, 60_000);
});

async function started({ make, through = [] }: Fault): Promise<Program> {
  const cwd = mkdtempSync(path.join(directory, 'start-'));
  chmodSync(cwd, 0o755);
  const env = {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    EMBEDDED_DATABASE_PORT: '0',
    DATA_DIR: path.join(cwd, 'data'),
    PLATFORM_ADMIN_KEY: 'process-platform-admin-key-0123',
    // Another user cannot read it.
    ...(through.length === 0 ? withCompiledCode() : {}),
    ...(await make(cwd)),
  };
  const [command, ...args] = [...through, process.execPath, MAIN];
  return Program.start(command, args, { env, cwd });
}

function fileAt(name: string): string {
  const file = path.join(directory, name);
  writeFileSync(file, '');
  return file;
}

function readOnly(): string {
  const disk = SmallDisk.mount('ro');
  disks.push(disk);
  return disk.directory;
}
