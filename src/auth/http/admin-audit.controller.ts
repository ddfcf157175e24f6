/** The audit trail, for administrators with the service-role key. */
import { Controller, Get, Query, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { ServiceRoleGuard } from '../../access/service-role.guard';
import { invalidParameters } from '../../common/errors/http-errors';
import { Answer } from '../../http/docs/answer.decorator';
import { COUNT } from '../../http/docs/documented-headers';
import type { Project } from '../../projects/project';
import { AuditRepository } from '../audit/audit.repository';
import { AuthErrors, ProjectIdParam, SERVICE_ERRORS } from './auth-docs.decorator';
import { AuditEntriesDto } from './dto/admin-answers.dto';
import { ListAuditQuery } from './dto/admin-audit.dto';
import { pageOf } from './dto/page.dto';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ProjectIdParam()
@Controller('v1/auth/:project_id/admin')
@UseGuards(ApiKeyGuard, BearerGuard, ServiceRoleGuard)
export class AdminAuditController {
  constructor(private readonly audit: AuditRepository) {}

  @Get('audit')
  @ApiOperation({
    operationId: 'adminListAudit',
    summary: 'List the audit trail, newest entries first',
    description:
      'Needs the service-role key, as apikey or as bearer. Each entry records an action on an account, the person and the client address. Pages are numbered from 1.',
  })
  @Answer(200, 'A page of entries', AuditEntriesDto, {
    'X-Total-Count': { description: 'Total number of entries', schema: COUNT },
  })
  @AuthErrors(invalidParameters('user_id must be a UUID'), SERVICE_ERRORS)
  async listAudit(
    @CurrentProject() project: Project,
    @Query() query: ListAuditQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const { total, entries } = await this.audit.list(project, {
      action: query.action ?? null,
      userId: query.user_id ?? null,
      ...pageOf(query),
    });
    response.set('X-Total-Count', String(total));
    return { entries };
  }
}
