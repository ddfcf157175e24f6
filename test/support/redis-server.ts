/** Starts a Redis server for a test. Its tests are skipped if redis-server is not installed (CI installs it). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { until } from './eventually';
import { freePort } from './plinth-process';
import type { Machine } from './two-machines';

const WAIT_TIMEOUT_MS = 10_000;

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export class TestRedis {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    private readonly host = '127.0.0.1',
  ) {}

  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  /** Starts a Redis without a password, on a machine of test/support/two-machines.ts. */
  static async startOn({ address, launcher }: Machine): Promise<TestRedis> {
    const port = await freePort();
    const settings = ['--port', String(port), '--protected-mode', 'no', '--save', '', '--appendonly', 'no'];
    const [program = '', ...args] = [...launcher, 'redis-server', ...settings];
    const redis = new TestRedis(spawn(program, args, { stdio: 'ignore' }), port, address);
    await until(() => answers(port, address));
    return redis;
  }

  /** @param settings in addition, such as `--requirepass`, `secret` */
  static async start(...settings: string[]): Promise<TestRedis> {
    return TestRedis.startAt(await freePort(), settings);
  }

  /** Starts an empty server on the same port, after stop(). */
  async startAgain(): Promise<TestRedis> {
    return TestRedis.startAt(this.port);
  }

  private static async startAt(port: number, others: string[] = []): Promise<TestRedis> {
    const settings = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      ...others,
    ];
    const child = spawn('redis-server', settings, { stdio: 'ignore' });
    const end = Date.now() + WAIT_TIMEOUT_MS;
    while (!(await answers(port))) {
      if (child.exitCode !== null || Date.now() > end) throw new Error('redis-server did not start');
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return new TestRedis(child, port);
  }

  /** Suspends the server: connections stay open without responses. */
  pause(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** Changes a setting of the running server. */
  async set(setting: string, value: string): Promise<void> {
    const answer = await command(this.port, `CONFIG SET ${setting} ${value}`);
    if (!answer.startsWith('+OK')) throw new Error(answer);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }
}

function answers(port: number, host?: string): Promise<boolean> {
  return command(port, 'PING', host).then(
    () => true,
    () => false,
  );
}

/** Sends an inline command. @returns the beginning of the answer */
function command(port: number, text: string, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => socket.end(`${text}\r\n`));
    socket.once('data', (answer: Buffer) => resolve(answer.toString('utf8')));
    socket.once('error', reject);
  });
}
