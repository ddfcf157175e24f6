/** Starts ClamAV's clamd with one signature of ours. Its tests are skipped if it is not installed (CI installs it). */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from './plinth-process';

const CLAMD = '/usr/sbin/clamd';

export const hasClamd = existsSync(CLAMD);
if (!hasClamd)
  process.stderr.write(
    'clamd is not installed: the tests of the virus scan are skipped (apt-get install clamav-daemon)\n',
  );

/** A file that clamd reports as infected. */
export const INFECTED = Buffer.from(
  `harmless, but for ${createHash('sha256').update('plinth').digest('hex')}`,
);
export const SIGNATURE = 'Plinth.Test.UNOFFICIAL';
/** Number of bytes of a file that clamd reads. */
export const STREAM_LIMIT = 2 * 1024 * 1024;

export class ClamdServer {
  private child: ChildProcess | null = null;

  private constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {
    mkdirSync(join(this.folder, 'db'));
    const pattern = INFECTED.subarray(-64).toString('hex');
    writeFileSync(join(this.folder, 'db', 'test.ndb'), `Plinth.Test:0:*:${pattern}\n`);
    const settings = [
      `DatabaseDirectory ${join(this.folder, 'db')}`,
      `TCPSocket ${port}`,
      'TCPAddr 127.0.0.1',
      `TemporaryDirectory ${this.folder}`,
      `StreamMaxLength ${STREAM_LIMIT}`,
      'Foreground yes',
      'MaxThreads 10',
    ];
    writeFileSync(join(this.folder, 'clamd.conf'), `${settings.join('\n')}\n`);
  }

  static async create(): Promise<ClamdServer> {
    return new ClamdServer(mkdtempSync(join(tmpdir(), 'clamd-')), await freePort());
  }

  get url(): string {
    return `tcp://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    this.child = spawn(CLAMD, ['-c', join(this.folder, 'clamd.conf')], { stdio: 'ignore' });
    await eventually(() => answers(this.port));
  }

  async stop(): Promise<void> {
    const { child } = this;
    this.child = null;
    if (!child) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true });
  }
}

function answers(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
