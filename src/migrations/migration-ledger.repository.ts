/**
 * The record of a project's own migrations, in the project's database: a dump of the database includes it. Table REST
 * exposes no table of this schema (rest/catalog), and its owner is the project's owner.
 */
import { Injectable } from '@nestjs/common';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { RecordReader } from '../database/rows/record-reader';
import { cleanText } from '../database/sql/clean-error';

export interface AppliedMigration {
  readonly version: string;
  readonly name: string;
  readonly sha256: string;
  readonly appliedAt: Date;
}

const TABLE = 'plinth_migrations.applied';
/** Limits for rows, which are read in full: an owner may write any number of them. */
const MAX_ROWS = 10_000;
const MAX_TEXT = 300;

const CREATE = `
  create schema if not exists plinth_migrations;
  create table if not exists ${TABLE} (
    version bigint primary key,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default clock_timestamp()
  )`;

/** Serialises the runs of one project's migrations; taken in the project's database. */
const LOCK = `select pg_advisory_lock(hashtextextended('plinth_migrations', 0))`;

@Injectable()
export class MigrationLedger {
  /** Creates the table if it is missing. */
  async prepare(client: BoundedClient): Promise<void> {
    if (!(await this.exists(client))) await client.query(CREATE);
  }

  /** Takes the lock, and waits for at most the session's lock_timeout. @throws DatabaseError 55P03 */
  async lock(client: BoundedClient): Promise<void> {
    await client.query(LOCK);
  }

  /**
   * The recorded migrations in the order of their versions.
   * @throws DatabaseFault unusable_record for values that the owner changed
   */
  async list(client: BoundedClient): Promise<AppliedMigration[]> {
    if (!(await this.exists(client))) return [];
    const { rows } = await client.query<Record<string, unknown>>(
      `select version::text, name::text, sha256::text, applied_at::timestamptz
       from ${TABLE} as applied order by applied.version limit ${MAX_ROWS}`,
    );
    return rows.map((row) => {
      const record = new RecordReader(TABLE, row);
      return {
        version: versionOf(record),
        name: cleanText(record.text('name', MAX_TEXT)),
        sha256: record.text('sha256', MAX_TEXT),
        appliedAt: record.date('applied_at'),
      };
    });
  }

  /** @throws DatabaseError 23505 when another run recorded it in the meantime */
  async record(
    client: BoundedClient,
    { version, name, sha256 }: Omit<AppliedMigration, 'appliedAt'>,
  ): Promise<void> {
    await client.query(`insert into ${TABLE} (version, name, sha256) values ($1, $2, $3)`, [
      version,
      name,
      sha256,
    ]);
  }

  private async exists(client: BoundedClient): Promise<boolean> {
    const { rows } = await client.query<{ found: boolean }>(
      `select pg_catalog.to_regclass('${TABLE}') is not null as found`,
    );
    return rows[0]?.found === true;
  }
}

/** The owner may have changed the type of the column. */
function versionOf(record: RecordReader): string {
  const version = record.text('version', 20);
  if (/^-?\d+$/.test(version)) return version;
  throw record.unusable('version', 'a number');
}
