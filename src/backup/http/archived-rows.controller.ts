/** Platform administration: rows of a project's archives, to compare and to restore them. */
import { Controller, Get, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { invalidParameters } from '../../common/errors/app-error';
import { Answer, Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';
import { clientLeft } from '../../http/client-left';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { answerOf } from '../../http/model/fields';
import { Actor } from '../../install/audit/audit-log.repository';
import { StaffAccess, CurrentActor } from '../../staff/http/staff-api.decorator';
import { ArchivedRows } from '../archived-rows/archived-rows.service';
import { archiveNotFound, tableNotArchived } from '../archived-rows/archived-rows.errors';
import { archiveInvalid, wrongPassphrase } from '../backup.errors';
import {
  ArchivedRowsQuery,
  ArchivedRowsResponse,
  ArchivedTableResponse,
  ProjectBackupResponse,
} from './dto/archived-rows.dto';
import { StoredFilesResponse } from './dto/backup-responses';

const DEFAULT_LIMIT = 20;

@StaffAccess()
@PathErrors({ ':backup_id': archiveNotFound() })
@Controller('admin/v1/projects/:id/backups')
export class ArchivedRowsController {
  constructor(private readonly archives: ArchivedRows) {}

  @Get()
  @Describe(`List the archives of a project that scheduled backups keep, newest first
    Archives in a former destination are not listed.`)
  @Answer(200, 'The archives', [ProjectBackupResponse])
  async listProjectBackups(@Param('id') id: string): Promise<ProjectBackupResponse[]> {
    const kept = await this.archives.listArchives(id);
    return kept.map(({ bytes, stored, ...run }) =>
      answerOf(ProjectBackupResponse, {
        ...run,
        bytes: Number(bytes ?? 0),
        stored: stored && answerOf(StoredFilesResponse, stored),
      }),
    );
  }

  @Get(':backup_id/tables')
  @Describe(`List the tables of an archive whose rows can be read
    These exist today, and the service role may read them. The archive is opened with BACKUP_PASSPHRASE.`)
  @Answer(200, 'The tables, by schema and name', [ArchivedTableResponse])
  @Errors(wrongPassphrase(), archiveInvalid('header.json is missing'))
  async listArchivedTables(
    @Param('id') id: string,
    @Param('backup_id') backupId: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ArchivedTableResponse[]> {
    const tables = await this.archives.listTables(id, backupId, clientLeft(response));
    return tables.map((table) => answerOf(ArchivedTableResponse, table));
  }

  @Get(':backup_id/tables/:table/rows')
  @Describe(`Find rows of a table in an archive
    Values are texts as PostgreSQL prints them. A search reads the archive up to the end of the table, for at most 60 seconds, and a project has one at a time. The checksums of the archive are not compared: a rehearsal does that.`)
  @Answer(200, 'The rows', ArchivedRowsResponse)
  @Errors(invalidParameters('value needs a column'), tableNotArchived())
  @Errors(wrongPassphrase(), archiveInvalid('a member is too large'))
  async findArchivedRows(
    @Param('id') id: string,
    @Param('backup_id') backupId: string,
    @Param('table') table: string,
    @StrictQuery() { column, value, search: text, limit = DEFAULT_LIMIT }: ArchivedRowsQuery,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ArchivedRowsResponse> {
    if ((column === undefined) !== (value === undefined))
      throw invalidParameters('column and value belong together');
    const where = column === undefined || value === undefined ? {} : { where: { column, value } };
    const search = { table, limit, ...where, ...(text === undefined ? {} : { text }) };
    const by = { actor, abandoned: clientLeft(response) };
    const { isComplete, ...found } = await this.archives.findRows(id, backupId, search, by);
    return answerOf(ArchivedRowsResponse, { ...found, complete: isComplete });
  }
}
