// Runs pg_dump, compiled to WebAssembly, in a thread: it reads and writes its connection synchronously. The thread's
// parent owns the socket (pg-dump.ts); the two exchange bytes by messages, and counters in shared memory bound them.
// Plain JavaScript, so that the same file is loaded from src/ by the tests and from dist/ by the product.
'use strict';
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { receiveMessageOnPort, workerData } = require('node:worker_threads');

/** Emscripten's number of EAGAIN. */
const EAGAIN = 6;
/** Bytes of output that the parent has not taken yet. */
const MAX_PENDING_OUTPUT = 1024 * 1024;
const STDERR_LIMIT = 8192;

const { port, shared, compiled, args, env } = workerData;
const [MESSAGES, TAKEN] = [0, 1];
const counters = new Int32Array(shared);

/** The package exports only a function around PGlite, so the factory of its module is taken out of the file. */
function loadFactory() {
  const file = require.resolve('@electric-sql/pglite-tools/pg_dump');
  const source = `${readFileSync(file, 'utf8')}\n;return $;`;
  const run = new Function('require', 'module', 'exports', '__filename', '__dirname', source);
  return run(createRequire(file), { exports: {} }, {}, file, dirname(file));
}

/** Waits for the next message. A message may be visible before its count, hence the order: count, look, wait. */
function nextMessage() {
  for (;;) {
    const seen = Atomics.load(counters, MESSAGES);
    const received = receiveMessageOnPort(port);
    if (received) return received.message;
    Atomics.wait(counters, MESSAGES, seen);
  }
}

let input = Buffer.alloc(0);
let hasEnded = false;
let wasDrained = false;

/** libpq asks again until there is no more: without EAGAIN after the last byte it would block there. */
function readSocket(mod, pointer, length) {
  if (input.length === 0 && wasDrained) {
    wasDrained = false;
    mod.HEAP32[mod.___errno_location() >> 2] = EAGAIN;
    return -1;
  }
  while (input.length === 0 && !hasEnded) {
    const message = nextMessage();
    if (message === null) hasEnded = true;
    else {
      input = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
      port.postMessage({ kind: 'read', length: input.length });
    }
  }
  const count = Math.min(length, input.length);
  mod.HEAPU8.set(input.subarray(0, count), pointer);
  input = input.subarray(count);
  wasDrained = input.length === 0 && !hasEnded;
  return count;
}

let sent = 0;

function writeOutput(bytes) {
  port.postMessage({ kind: 'output', bytes });
  sent += bytes.length;
  for (;;) {
    const taken = Atomics.load(counters, TAKEN);
    // The counter wraps at 32 bits.
    if (((sent | 0) - taken) >>> 0 <= MAX_PENDING_OUTPUT) return;
    Atomics.wait(counters, TAKEN, taken);
  }
}

let errors = '';

/** A character device in place of a file in memory, which would have to hold the whole dump. */
function addOutputDevice(mod) {
  const device = mod.FS.makedev(64, 0);
  mod.FS.registerDevice(device, {
    open: () => undefined,
    close: () => undefined,
    read: () => 0,
    write: (_stream, buffer, offset, length) => {
      // A copy: the heap may move, and postMessage() would copy all of it.
      writeOutput(Uint8Array.from(buffer.subarray(offset, offset + length)));
      return length;
    },
  });
  mod.FS.mkdev('/dump.sql', device);
}

async function main() {
  let exitCode = 0;
  const mod = await loadFactory()({
    noExitRuntime: false,
    print: () => undefined,
    printErr: (text) => {
      if (errors.length < STDERR_LIMIT) errors += `${text}\n`;
    },
    onExit: (status) => (exitCode = status),
    instantiateWasm: (imports, use) => use(new WebAssembly.Instance(compiled, imports), compiled),
    preRun: [
      (module) => {
        Object.assign(module.ENV, { HOME: '/home/postgres', USER: 'postgres', LOGNAME: 'postgres' }, env);
        module.onRuntimeInitialized = () => {
          const read = module.addFunction((pointer, length) => readSocket(module, pointer, length), 'iii');
          const write = module.addFunction((pointer, length) => {
            port.postMessage({ kind: 'send', bytes: module.HEAPU8.slice(pointer, pointer + length) });
            return length;
          }, 'iii');
          module._pgl_set_rw_cbs(read, write);
        };
      },
    ],
  });
  addOutputDevice(mod);
  mod.callMain([...args, '-f', '/dump.sql']);
  finish(exitCode);
}

/** Listening keeps the thread alive: its parent ends it after this message. An end before it is a crash. */
function finish(exitCode) {
  port.on('message', () => undefined);
  port.postMessage({ kind: 'exit', exitCode, errors });
}

main().catch((error) => {
  errors += String(error?.stack ?? error);
  finish(-1);
});
