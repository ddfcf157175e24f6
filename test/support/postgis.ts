/**
 * Whether the test run's server has PostGIS. The embedded server does not; set PLINTH_TEST_DATABASE_URL to a server
 * that does.
 */
import { spawnSync } from 'node:child_process';

const PROBE = `
  const { Client } = require('pg');
  const client = new Client({ connectionString: process.env.PLINTH_TEST_DATABASE_URL });
  client.connect()
    .then(() => client.query("select from pg_available_extensions where name = 'postgis'"))
    .then(({ rowCount }) => process.exit(rowCount === 1 ? 0 : 1), () => process.exit(1));
`;

export const hasPostgis = spawnSync(process.execPath, ['-e', PROBE]).status === 0;
