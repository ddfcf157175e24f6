/**
 * pg_dump 18 as WebAssembly, from the npm package @electric-sql/pglite-tools (Apache-2.0; PostgreSQL's code in it is under
 * the PostgreSQL license). It dumps servers from 9.2 on. Runs in its own thread and streams its output.
 */
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { dirname, join } from 'node:path';
import { MessageChannel, MessagePort, Worker } from 'node:worker_threads';
import type { HostListConfig } from '../../pg-pipeline';
import { OWNER_WORK_OPTIONS } from '../../database/pools/session-state';
import { openServerSocket } from './server-socket';

/** For every dump. Event triggers and their schema belong to the install, and extensions are not dumped as SQL. */
export const DUMP_OPTIONS = ['--no-owner', '--exclude-schema=plinth', '--exclude-extension=*', '--no-sync'];

/** Bytes from the server that pg_dump has not read yet, at which the socket pauses. */
const MAX_PENDING_INPUT = 1024 * 1024;
/** Indexes of the shared counters: messages to the thread, and bytes of output taken from it. */
const [MESSAGES, TAKEN] = [0, 1];

type FromThread =
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  | { readonly kind: 'read'; readonly length: number }
  | { readonly kind: 'output'; readonly bytes: Uint8Array }
  | { readonly kind: 'exit'; readonly exitCode: number; readonly errors: string };

export type DumpConnection = HostListConfig & {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
};

/** Not in the types of Node. A compiled module can be sent to a thread. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

let program: object | undefined;

/**
 * The compiled pg_dump. Threads share its machine code, which V8 makes while functions run: with its own module, each
 * thread spends 0.3 s of a core on that.
 */
async function compiledProgram(): Promise<object> {
  const file = join(dirname(require.resolve('@electric-sql/pglite-tools/pg_dump')), 'pg_dump.wasm');
  program ??= await WebAssembly.compile(await readFile(file));
  return program;
}

/** pg_dump ended with an error, whose message this error has. */
class PgDumpError extends Error {
  override readonly name = 'PgDumpError';
}

/**
 * Yields the output of pg_dump. Ending the iteration early ends pg_dump.
 * @param args options of pg_dump, without those of the connection and the output
 * @throws PgDumpError
 */
export async function* pgDump(
  connection: DumpConnection,
  args: readonly string[],
): AsyncGenerator<Buffer, void, undefined> {
  const compiled = await compiledProgram();
  const socket = await openServerSocket(connection);
  const { port1, port2 } = new MessageChannel();
  const shared = new SharedArrayBuffer(8);
  const worker = new Worker(join(__dirname, 'pg-dump-worker.cjs'), {
    workerData: { port: port2, shared, compiled, args, env: environmentOf(connection) },
    transferList: [port2],
    // The thread does not get the secrets of the process.
    env: {},
    stdout: true,
    stderr: true,
  });
  const bridge = new Bridge(port1, socket, new Int32Array(shared));
  worker.once('error', (error) => bridge.fail(error));
  worker.once('exit', () => bridge.fail(new PgDumpError('the thread of pg_dump ended')));
  try {
    yield* bridge.output();
  } finally {
    socket.destroy();
    port1.close();
    await worker.terminate();
  }
}

function environmentOf({ database, user, password }: DumpConnection): Record<string, string> {
  return {
    // Placeholders for a server: every connection goes through the bridge, encrypted there if at all.
    PGHOST: '/tmp',
    PGSSLMODE: 'disable',
    PGGSSENCMODE: 'disable',
    PGDATABASE: database,
    PGUSER: user,
    PGPASSWORD: password,
    PGOPTIONS: OWNER_WORK_OPTIONS,
    PGCLIENTENCODING: 'UTF8',
    PGAPPNAME: 'plinth-backup',
  };
}

/** Passes bytes between the server's socket and the thread, and limits the bytes in flight in both directions. */
class Bridge {
  private readonly waiting: Buffer[] = [];
  private pendingInput = 0;
  private failure: Error | null = null;
  private isDone = false;
  private wake: () => void = () => undefined;

  constructor(
    private readonly port: MessagePort,
    private readonly socket: Duplex,
    private readonly counters: Int32Array,
  ) {
    port.on('message', (message: FromThread) => this.onMessage(message));
    socket.on('data', (bytes: Buffer) => this.onInput(bytes));
    const onEnd = (): void => this.post(null);
    socket.once('end', onEnd).once('close', onEnd);
    // The thread sees the end of the connection and reports it.
    socket.on('error', () => undefined);
  }

  fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }

  async *output(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const next = this.waiting.shift();
      if (next) {
        yield next;
        Atomics.add(this.counters, TAKEN, next.length);
        Atomics.notify(this.counters, TAKEN);
      } else if (this.isDone) return;
      else if (this.failure) throw this.failure;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private onMessage(message: FromThread): void {
    switch (message.kind) {
      case 'send':
        this.socket.write(message.bytes);
        return;
      case 'read':
        this.pendingInput -= message.length;
        if (this.pendingInput < MAX_PENDING_INPUT) this.socket.resume();
        return;
      case 'output':
        this.waiting.push(Buffer.from(message.bytes.buffer));
        break;
      case 'exit':
        if (message.exitCode === 0) this.isDone = true;
        else this.failure = new PgDumpError(message.errors.trim() || `exit code ${message.exitCode}`);
        break;
    }
    this.wake();
  }

  private onInput(bytes: Buffer): void {
    this.pendingInput += bytes.length;
    if (this.pendingInput >= MAX_PENDING_INPUT) this.socket.pause();
    // Copies the chunk, because it may be a view of a large shared buffer, and a message copies the whole buffer.
    this.post(Uint8Array.from(bytes));
  }

  private post(message: Uint8Array | null): void {
    this.port.postMessage(message);
    Atomics.add(this.counters, MESSAGES, 1);
    Atomics.notify(this.counters, MESSAGES);
  }
}
