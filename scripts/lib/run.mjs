// Runs a program and buffers its output, which is shown only after a failure.
import { spawn } from 'node:child_process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The output of a program that failed. */
export class ProgramFailed extends Error {
  constructor(what, output) {
    super(`${what} failed.`);
    this.output = output;
  }
}

/** Programs that run now. The terminal sends Ctrl-C to them too. */
const running = new Set();
/** The signal that ends this process, after its programs have ended. */
let endingBy = null;

/**
 * Resolves with the output (both streams, in order) when the program exits with 0; rejects with ProgramFailed otherwise.
 * The program is ended together with this process, unless this process gets SIGKILL. Several programs can run at once.
 * @param {string} what names the program in the message of a failure
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, echo?: boolean, onStart?: (pid: number) => void }} options `echo` shows the output as it comes
 *   instead of buffering it
 * @returns {Promise<string>}
 */
export function run(what, command, args, { cwd, echo = false, onStart }) {
  return new Promise((resolve, reject) => {
    // This process is about to end.
    if (endingBy !== null) return;
    const child = spawn(command, args, {
      cwd,
      stdio: ['ignore', ...(echo ? ['inherit', 'inherit'] : ['pipe', 'pipe'])],
    });
    if (child.pid) onStart?.(child.pid);
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    endWithUs(child);
    child.once('error', (error) => {
      release(child);
      reject(new ProgramFailed(what, error.message));
    });
    child.once('close', (code) => {
      release(child);
      if (endingBy !== null) return;
      const output = Buffer.concat(chunks).toString('utf8');
      if (code === 0) resolve(output);
      else reject(new ProgramFailed(what, output));
    });
  });
}

function endWithUs(child) {
  if (running.size === 0) {
    SIGNALS.forEach((signal) => process.on(signal, forward));
    process.on('exit', endAll);
  }
  running.add(child);
}

/** After the last program, this process ends by the signal that it got while they ran. */
function release(child) {
  if (!running.delete(child) || running.size > 0) return;
  SIGNALS.forEach((signal) => process.off(signal, forward));
  process.off('exit', endAll);
  if (endingBy !== null) process.kill(process.pid, endingBy);
}

/** The terminal has sent SIGINT to the programs already. */
function forward(signal) {
  endingBy ??= signal;
  if (signal !== 'SIGINT') for (const child of running) child.kill(signal);
}

function endAll() {
  for (const child of running) child.kill();
}
