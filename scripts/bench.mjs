// `npm run bench`: sets up and builds like `npm start`, then runs a benchmark of bench/ (rest by default).
import { assertNodeVersion, setUp } from './lib/set-up.mjs';

assertNodeVersion();
await setUp({ build: true });
const [which = 'rest'] = process.argv.slice(2);
if (!/^[a-z-]+$/.test(which)) throw new Error(`there is no benchmark called ${which}`);
await import(`../bench/${which}.mjs`);
