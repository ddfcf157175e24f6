/** Platform administration: the audit log. */
import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { PlatformError } from '../../http/errors/platform-error.dto';
import { AuditLogRepository } from '../../projects/audit-log.repository';
import { AdminApi } from './admin-api.decorator';
import { AuditLogEntry } from '../admin-records';
import { ListAuditLogQuery } from './dto/projects.dto';
import { StrictQuery } from '../../http/input/strict-input.decorator';

const DEFAULT_LIMIT = 100;

@AdminApi()
@Controller('admin/v1/audit-log')
export class AuditLogController {
  constructor(private readonly audit: AuditLogRepository) {}

  @Get()
  @ApiOperation({ summary: 'List changes, newest first', operationId: 'listAuditLog' })
  @ApiQuery({ type: ListAuditLogQuery })
  @ApiResponse({
    status: 200,
    type: [AuditLogEntry],
    headers: {
      'X-Next-Cursor': {
        description: 'Value of `before` for the next page; absent on the last page',
        schema: { type: 'string' },
      },
    },
  })
  @ApiResponse({ status: 400, description: 'Invalid parameters', type: PlatformError })
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
