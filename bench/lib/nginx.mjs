// Runs nginx, if it is installed, on a free port with a given configuration.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from './plinth.mjs';

const PROGRAM = ['nginx', '/usr/sbin/nginx'].find((name) => spawnSync(name, ['-v']).error === undefined);

/**
 * @param directory for its files
 * @param server content of its server block
 * @param http further content of its http block
 * @returns null if nginx is not installed
 */
export async function startNginx(directory, server, http = '') {
  if (!PROGRAM) return null;
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const configuration = path.join(directory, 'nginx.conf');
  writeFileSync(
    configuration,
    `daemon off; worker_processes 1; pid ${directory}/nginx.pid; error_log ${directory}/error.log;
     ${process.getuid() === 0 ? 'user root;' : ''}
     events { worker_connections 256; }
     http {
       access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
       client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
       fastcgi_temp_path ${directory}/fastcgi; uwsgi_temp_path ${directory}/uwsgi; scgi_temp_path ${directory}/scgi;
       ${http}
       server { listen 127.0.0.1:${port}; ${server} }
     }`,
  );
  const child = spawn(PROGRAM, ['-p', directory, '-c', configuration], { stdio: 'ignore' });
  await listening(port);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    stop: () => new Promise((resolve) => child.once('exit', resolve).kill('SIGQUIT')),
  };
}

async function listening(port) {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('nginx did not start in time');
}
