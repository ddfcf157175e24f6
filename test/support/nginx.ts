/** Starts Debian's nginx for a test. Its tests are skipped if it is not installed (CI installs it). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './plinth-process';

const PROGRAM = ['nginx', '/usr/sbin/nginx'].find((name) => spawnSync(name, ['-v']).status === 0);
const WAIT_TIMEOUT_MS = 10_000;

export const hasNginx = PROGRAM !== undefined;

export class TestNginx {
  private constructor(
    private readonly child: ChildProcess,
    private readonly directory: string,
    readonly baseUrl: string,
  ) {}

  /** @param http content of its http block; `listen 80` becomes a free port */
  static async start(http: string): Promise<TestNginx> {
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'plinth-nginx-'));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
      .join('\n');
    // Workers of a test that runs as root must see its files.
    const user = process.getuid?.() === 0 ? 'user root root;' : '';
    writeFileSync(
      join(directory, 'nginx.conf'),
      `daemon off; ${user} worker_processes 1; pid ${directory}/pid; error_log ${directory}/error.log;
      events { worker_connections 256; }
      http { access_log off; ${temporary} ${http.replace('listen 80;', `listen 127.0.0.1:${port};`)} }`,
    );
    const settings = [
      '-p',
      directory,
      '-c',
      join(directory, 'nginx.conf'),
      '-e',
      join(directory, 'error.log'),
    ];
    const child = spawn(PROGRAM as string, settings, { stdio: 'ignore' });
    const end = Date.now() + WAIT_TIMEOUT_MS;
    while (!(await listens(port))) {
      if (child.exitCode !== null || Date.now() > end) throw new Error('nginx did not start');
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return new TestNginx(child, directory, `http://127.0.0.1:${port}`);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
