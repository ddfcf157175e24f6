/** The applications in examples/: runs their scripts, and serves their builds. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import path from 'node:path';

/** Limit in milliseconds: a generator, a compiler and a bundler run one after another. */
export const EXAMPLE_LIMIT_MS = 300_000;

export const EXAMPLES = path.join(__dirname, '../../examples');

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of an example's package.json. */
export function npmRun(
  example: string,
  script: string,
  env: Record<string, string>,
  ...args: string[]
): Promise<Outcome> {
  const options = { cwd: path.join(EXAMPLES, example), env: { ...process.env, ...env } };
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', script, '--', ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, stdout, stderr }),
    );
  });
}

/** Serves the files of a folder on a free port. */
export async function serve(folder: string): Promise<Server> {
  const server = createServer((request, response) => {
    const name = request.url === '/' ? 'index.html' : path.normalize(request.url ?? '');
    const type = TYPES[path.extname(name)];
    readFile(path.join(folder, name)).then(
      (bytes) => response.writeHead(200, { 'content-type': type }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

export const DONE = { code: 0, stderr: '' };
