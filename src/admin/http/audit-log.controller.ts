/** Platform administration: the audit log. */
import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuditLogRepository } from '../../projects/audit-log.repository';
import { AdminApi, ADMIN_ERRORS } from './admin-api.decorator';
import { AuditLogEntry } from '../admin-records';
import { ListAuditLogQuery } from './dto/projects.dto';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { Answer } from '../../http/docs/answer.decorator';
import { TEXT } from '../../http/docs/documented-headers';
import { invalidParameters } from '../../common/errors/http-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';

const DEFAULT_LIMIT = 100;

@AdminApi()
@Controller('admin/v1/audit-log')
export class AuditLogController {
  constructor(private readonly audit: AuditLogRepository) {}

  @Get()
  @ApiOperation({
    operationId: 'listAuditLog',
    summary: 'List changes, newest first',
    description:
      'Needs a role that docs/access.md lists for it. Every change of the administration, and every reading of a secret. At most 1000 in a page.',
  })
  @ApiQuery({ type: ListAuditLogQuery })
  @Answer(200, 'A page of entries', [AuditLogEntry], {
    'X-Next-Cursor': {
      description: 'Value of `before` for the next page; absent on the last page',
      schema: TEXT,
    },
  })
  @PlatformErrors(invalidParameters('before must be an id of the audit log'), ADMIN_ERRORS)
  async list(
    @StrictQuery() query: ListAuditLogQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuditLogEntry[]> {
    const { project_id: projectId, action, before, limit = DEFAULT_LIMIT } = query;
    // Reads one entry more than the limit, which shows whether there is a next page.
    const entries = await this.audit.list({ projectId, action, before, limit: limit + 1 });
    const page = entries.slice(0, limit);
    const last = page.at(-1);
    if (entries.length > limit && last) response.setHeader('X-Next-Cursor', last.id);
    return page;
  }
}
