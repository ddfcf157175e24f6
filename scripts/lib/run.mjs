// Runs one program with its output kept back, to be shown only if it fails.
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
 * The program is ended when we end, unless we are killed with SIGKILL.
 * @param {string} what names the program in the message of a failure
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, echo?: boolean, onStart?: (pid: number) => void }} options `echo` shows the output as it comes
 *   instead of keeping it back
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

/** Ctrl-C reaches the child by itself, other signals only us: pass them on, let the child end, then end likewise. */
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
