#!/usr/bin/env node
// The command line (`npm run plinth -- ...`, or this file with Node from any folder): installs and builds
// if necessary, then runs the command.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { assertNodeVersion, ROOT, setUp } from './lib/set-up.mjs';

assertNodeVersion();
await setUp({ quiet: true });

const cli = path.join(ROOT, 'dist/src/cli.js');
process.argv[1] = cli;
await import(pathToFileURL(cli).href);
