// Runs a program and buffers its output, which is shown only after a failure.
import { spawn } from 'node:child_process';

/** The output of a program that failed. */
export class ProgramFailed extends Error {
  constructor(what, output) {
    super(`${what} failed.`);
    this.output = output;
  }
}

/**
 * Resolves with the output (both streams, in order) when the program exits with 0; rejects with ProgramFailed otherwise.
 * The program is ended together with this process, unless this process gets SIGKILL.
 * @param {string} what names the program in the message of a failure
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, echo?: boolean, onStart?: (pid: number) => void }} options `echo` shows the output as it comes
 *   instead of buffering it
 * @returns {Promise<string>}
 */
export function run(what, command, args, { cwd, echo = false, onStart }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ['ignore', ...(echo ? ['inherit', 'inherit'] : ['pipe', 'pipe'])],
    });
    if (child.pid) onStart?.(child.pid);
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    const release = endWithUs(child);
    child.once('error', (error) => {
      release();
      reject(new ProgramFailed(what, error.message));
    });
    child.once('close', (code) => {
      release();
      const output = Buffer.concat(chunks).toString('utf8');
      if (code === 0) resolve(output);
      else reject(new ProgramFailed(what, output));
    });
  });
}

/** The terminal sends Ctrl-C to the child too. Forwards other signals, waits for the child, then ends by the same signal. */
function endWithUs(child) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const forward = (signal) => {
    if (signal !== 'SIGINT') child.kill(signal);
    child.once('close', () => process.kill(process.pid, signal));
  };
  const kill = () => child.kill();
  signals.forEach((signal) => process.on(signal, forward));
  process.on('exit', kill);
  return () => {
    signals.forEach((signal) => process.off(signal, forward));
    process.off('exit', kill);
  };
}
