/** The test run's server, as the tests of src/pg-pipeline connect to it. */
import type { PipelineConfig } from '../../src/pg-pipeline';

export function serverUrl(): URL {
  return new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
}

export function serverConfig(url = serverUrl()): PipelineConfig {
  return {
    host: url.hostname,
    port: Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: 'postgres',
    ssl: false,
  };
}
