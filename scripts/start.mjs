// `npm start`: installs and builds what is missing, then becomes the server, in this very process, so that signals need
// no forwarding. Its script in package.json says `exec`, so that no shell stands between npm and this process either.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { assertNodeVersion, ROOT, setUp } from './lib/set-up.mjs';

const PARENT_POLL_MS = 1_000;

assertNodeVersion();
if (process.env.npm_lifecycle_event) endWithParent();
await setUp();

const main = path.join(ROOT, 'dist/src/main.js');
// Worker processes are forked from this name.
process.argv[1] = main;
await import(pathToFileURL(main).href);

/** An npm that is killed cannot pass that on: stop as if it had sent SIGTERM, rather than live on unseen. */
function endWithParent() {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_POLL_MS).unref();
}
