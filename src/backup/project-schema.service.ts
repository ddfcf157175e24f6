/** The schema of a project as text of pg_dump. */
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectsService } from '../projects/projects.service';
import { isClosedByReader, OutputClosedError } from './output-closed';
import { DUMP_OPTIONS, pgDump } from '../copies/dump/pg-dump';

@Injectable()
export class ProjectSchema {
  constructor(
    private readonly projects: ProjectsService,
    private readonly owner: OwnerDatabase,
  ) {}

  /**
   * Writes the schema, without data and without the extensions.
   * @param openOutput called once the project's database accepts the owner
   * @throws AppError 404; OutputClosedError
   */
  async write(id: string, openOutput: () => Writable): Promise<void> {
    const project = await this.projects.get(id);
    await this.owner.repairAccess(project);
    const connection = this.owner.connectionOf(project);
    const output = openOutput();
    await pipeline(pgDump(connection, [...DUMP_OPTIONS, '--schema-only']), output).catch((error: unknown) => {
      throw isClosedByReader(output) ? new OutputClosedError(error) : error;
    });
  }
}
