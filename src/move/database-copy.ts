/**
 * Copies a project's database to another server while writes to it are refused: rows, large objects, the
 * definitions after the rows (indexes, constraints, triggers, policies), settings and sequences.
 */
import { Logger } from '@nestjs/common';
import { restoreSettings } from '../copies/load/database-settings';
import { ProjectLoader } from '../copies/load/project-loader';
import type { BoundedClient } from '../database/pools/one-off-connection';
import type { ProjectEntity } from '../projects/project.entity';
import { copyDiffers } from './move.errors';
import type { SchemaText, SourceSnapshot } from './source-snapshot';

export interface CopyTarget {
  /** The owner's connection to the target. */
  readonly client: BoundedClient;
  readonly loader: ProjectLoader;
  readonly project: ProjectEntity;
}

export interface CopyProgress {
  step(name: string): void;
  /** @throws when the move is to be given up */
  passed(bytes: number): void;
}

export class DatabaseCopy {
  private readonly logger = new Logger(DatabaseCopy.name);

  constructor(
    private readonly target: CopyTarget,
    private readonly schema: SchemaText,
    private readonly key: string,
    private readonly progress: CopyProgress,
  ) {}

  /** Copies everything except the sequences. */
  async copyDatabase(source: SourceSnapshot, hasLargeObjects: boolean): Promise<void> {
    const { loader, client, project } = this.target;
    this.progress.step('copying rows');
    for (const table of await source.rows.tables()) {
      const content = source.rows.rowsOf(table);
      const count = await loader.copy(table, this.counted(content.chunks));
      if (count !== content.rows()) throw copyDiffers(`${table.schema}.${table.name}`);
    }
    if (hasLargeObjects) await loader.addLargeObjects(this.counted(source.largeObjects(this.key)));
    this.progress.step('building indexes');
    await loader.loadDump(this.schema.postData);
    const place = { database: project.databaseName, roles: new Map<string, string>() };
    const refused = await restoreSettings(client, await source.rows.settings(), place);
    for (const line of refused) this.logger.warn(`a setting of ${project.slug} was not moved: ${line}`);
  }

  /** Copied last, when sequences can no longer advance. */
  async setSequences(source: SourceSnapshot): Promise<void> {
    await this.target.loader.setSequences(await source.rows.sequences());
  }

  private async *counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.progress.passed(chunk.length);
      yield chunk;
    }
  }
}
