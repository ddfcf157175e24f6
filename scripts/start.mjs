// `npm start`: installs and builds if necessary, then runs the server in this process, so that signals need no forwarding.
// The script in package.json uses `exec`, so that there is no shell between npm and this process.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { assertNodeVersion, ROOT, setUp } from './lib/set-up.mjs';

const PARENT_POLL_MS = 1_000;

assertNodeVersion();
if (process.env.npm_lifecycle_event) endWithParent();
await setUp({ console: true });

const main = path.join(ROOT, 'dist/src/main.js');
// Worker processes are forked from this name.
process.argv[1] = main;
await import(pathToFileURL(main).href);

/** A killed npm cannot forward a signal. Stop as after SIGTERM when the parent is gone, instead of running on unnoticed. */
function endWithParent() {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_POLL_MS).unref();
}
