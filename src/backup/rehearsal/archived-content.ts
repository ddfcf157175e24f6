/** Digests the content of an archive's members, to compare it with the result of a dry run. */
import { createHash } from 'node:crypto';
import type { ArchivedTable } from '../../copies/archived-objects';
import type { SnapshotRepository } from '../../copies/dump/snapshot.repository';
import { restoreDiffers } from '../backup.errors';
import { RowsDigest } from './rows-digest';

export class ArchivedContent {
  /** Keyed by member. */
  private readonly tables = new Map<string, RowsDigest>();
  private readonly files = new RowsDigest();

  /** Reads rows on their way into the database. */
  async *digested(member: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    const digest = new RowsDigest();
    this.tables.set(member, digest);
    for await (const chunk of chunks) {
      digest.add(chunk);
      yield chunk;
    }
  }

  async addFile(objectId: string, chunks: AsyncIterable<Buffer>): Promise<void> {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      hash.update(chunk);
    }
    this.files.add(Buffer.from(`${objectId}\t${bytes}\t${hash.digest('hex')}\n`));
  }

  /**
   * @param missing files whose bytes the archive does not have
   * @throws AppError 400 if the database has other rows or files
   */
  async assertRestored(
    snapshot: SnapshotRepository,
    tables: readonly ArchivedTable[],
    missing: number,
  ): Promise<void> {
    const restored = new Map((await snapshot.tables()).map((table) => [keyOf(table), table]));
    for (const table of tables) {
      const { isForced } = restored.get(keyOf(table)) ?? {};
      const name = `${table.schema}.${table.name}`;
      if (isForced === undefined) throw restoreDiffers(`the table ${name} is missing`);
      const found = await digestOf(snapshot.rowsOf({ ...table, isForced }).chunks);
      const archived = this.tables.get(table.member) ?? new RowsDigest();
      if (!found.equals(archived))
        throw restoreDiffers(
          `${name} has ${found.count} rows, and the archive ${archived.count}, with other values`,
        );
    }
    const isForced = restored.get(keyOf({ schema: 'storage', name: 'files' }))?.isForced ?? false;
    const records = await digestOf(snapshot.files(isForced));
    const isSame = missing === 0 ? records.equals(this.files) : records.count === this.files.count + missing;
    if (!isSame)
      throw restoreDiffers(
        `it has records of ${records.count} files, and the archive ${this.files.count} files with other bytes`,
      );
  }
}

const keyOf = ({ schema, name }: Pick<ArchivedTable, 'schema' | 'name'>): string => `${schema}\0${name}`;

async function digestOf(chunks: AsyncIterable<Buffer>): Promise<RowsDigest> {
  const digest = new RowsDigest();
  for await (const chunk of chunks) digest.add(chunk);
  return digest;
}
