/** A separate database on the test run's server, for tests that need PostgreSQL but no project and no HTTP. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { ProjectDatabase } from '../../src/database/pools/project-database';
import { ProjectPools } from '../../src/database/pools/project-pools';
import { asSuperuser } from './owner-connection';

export class TestDatabase {
  private constructor(
    /** Its address, for the code under test. */
    readonly place: ProjectDatabase,
    /** A connection as its owner. */
    readonly owner: Client,
  ) {}

  static async create(): Promise<TestDatabase> {
    const name = `plinth_test_${randomBytes(6).toString('hex')}`;
    await asSuperuser('postgres', (admin) => admin.query(`create database ${name}`));
    const url = new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
    const place = {
      key: name,
      host: url.hostname,
      port: Number(url.port),
      database: name,
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      ssl: false,
    };
    const { key: _key, ...config } = place;
    const owner = new Client(config);
    await owner.connect();
    return new TestDatabase(place, owner);
  }

  /** Drops the database, and ends open connections to it. */
  async drop(): Promise<void> {
    await this.owner.end();
    await asSuperuser('postgres', (admin) =>
      admin.query(`drop database ${this.place.database} with (force)`),
    );
  }
}

/** Pools that are large enough for all connections. */
export function amplePools(): ProjectPools {
  return new ProjectPools({
    total: 4,
    perProject: 4,
    workingAtOnce: 2,
    acquireTimeoutMs: 5_000,
    idleTimeoutMs: 60_000,
    maxWaiting: 10,
    stalledMs: 60_000,
  });
}
