// Runs a program to its end.
import { spawn } from 'node:child_process';

/** Resolves with the output; rejects if the program fails. */
export function run(command, args, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [printed, complained] = [[], []];
    child.stdout.on('data', (chunk) => printed.push(chunk));
    child.stderr.on('data', (chunk) => complained.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(printed).toString());
      else reject(new Error(`${command} ended with ${code}: ${Buffer.concat(complained)}`));
    });
  });
}
