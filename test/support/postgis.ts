/** Whether the test run's server has PostGIS; the embedded one has not: name another in PLINTH_TEST_DATABASE_URL. */
import { spawnSync } from 'node:child_process';

const LOOK = `
  const { Client } = require('pg');
  const client = new Client({ connectionString: process.env.PLINTH_TEST_DATABASE_URL });
  client.connect()
    .then(() => client.query("select from pg_available_extensions where name = 'postgis'"))
    .then(({ rowCount }) => process.exit(rowCount === 1 ? 0 : 1), () => process.exit(1));
`;

export const hasPostgis = spawnSync(process.execPath, ['-e', LOOK]).status === 0;
