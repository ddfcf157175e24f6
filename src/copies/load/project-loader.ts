/**
 * Loads the sections of an archive into a new database. Everything runs as the owner of the project: functions, defaults
 * and triggers in the archive are a stranger's, even if an administrator restores it.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { MessageLimits } from '../../pg-pipeline';
import type { BoundedClient } from '../../database/pools/one-off-connection';
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import { ArchivedExtension, ArchivedSequence, ArchivedTable } from '../archived-objects';
import { DumpTarget, DumpText, statementBatches } from '../dump/dump-text';
import { TEXT_FORMAT } from '../dump/snapshot.repository';

/** The results of archived statements are discarded. */
export const NO_RESULTS: MessageLimits = { admitsRow: () => false, admitsNotice: () => false };

/** Schemas that PostgreSQL creates in every database. */
const BUILT_IN_SCHEMAS = ['public', 'pg_catalog'];

export class ProjectLoader {
  private constructor(
    private readonly client: BoundedClient,
    private readonly target: DumpTarget,
  ) {}

  /** @param roles new names of the project's roles by their old ones */
  static async begin(
    client: BoundedClient,
    extensions: readonly ArchivedExtension[],
    serverVersion: number,
    roles: ReadonlyMap<string, string>,
  ): Promise<ProjectLoader> {
    // Tables whose row-level security the owner turned off must stay without it.
    await client.query(`${TEXT_FORMAT} set plinth.auto_rls = off`);
    const schemas = [...new Set(extensions.map(({ schema }) => schema))].filter(
      (schema) => !BUILT_IN_SCHEMAS.includes(schema),
    );
    for (const schema of schemas)
      await client.query(`create schema if not exists ${quoteIdentifier(schema)}`);
    for (const { name, schema } of extensions.filter(({ by_owner: byOwner }) => byOwner)) {
      const [extension, into] = [quoteIdentifier(name), quoteIdentifier(schema)];
      await client.query(`create extension if not exists ${extension} with schema ${into}`);
    }
    return new ProjectLoader(client, { serverVersion, schemas, roles });
  }

  /** Runs a section of pg_dump's text in one transaction. */
  async loadDump(dump: Buffer): Promise<void> {
    await this.client.query(await new DumpText(this.target).section(dump));
  }

  /** @returns the number of rows */
  async copy({ schema, name, columns }: ArchivedTable, chunks: AsyncIterable<Buffer>): Promise<number> {
    const list = columns.length === 0 ? '' : `(${columns.map(quoteIdentifier).join(', ')})`;
    const stream = this.client.query(copyFrom(`copy ${quoteQualified(schema, name)} ${list} from stdin`));
    await pipeline(Readable.from(chunks, { objectMode: false }), stream);
    return stream.rowCount;
  }

  async addLargeObjects(chunks: AsyncIterable<Buffer>): Promise<void> {
    const text = new DumpText({ ...this.target, schemas: [] });
    for await (const batch of statementBatches(chunks)) await this.client.query(text.executable(batch));
  }

  async setSequences(sequences: readonly ArchivedSequence[]): Promise<void> {
    for (const { schema, name, last_value: value, is_called: isCalled } of sequences) {
      await this.client.query('select pg_catalog.setval($1::regclass, $2::bigint, $3)', [
        quoteQualified(schema, name),
        value,
        isCalled,
      ]);
    }
  }
}
