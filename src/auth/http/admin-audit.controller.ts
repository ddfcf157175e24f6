/** The audit trail, for administrators with the service-role key. */
import { Controller, Get, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentProject } from '../../access/current-caller.decorator';
import { invalidParameters } from '../../common/errors/app-error';
import { COUNT } from '../../http/docs/documented-headers';
import type { Project } from '../../projects/project';
import { AuditRepository } from '../audit/audit.repository';
import { AuthApi } from './auth-docs.decorator';
import { AuditEntriesResponse } from './dto/admin-responses';
import { ListAuditQuery, pageOf } from './dto/admin-users.dto';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@AuthApi('service_role')
@Controller('v1/auth/:project_id/admin')
export class AdminAuditController {
  constructor(private readonly audit: AuditRepository) {}

  @Get('audit')
  @Describe(`List the audit trail, newest entries first
    Needs the service-role key, as apikey or as bearer. Each entry records an action on an account, the person and the client address. Pages are numbered from 1.`)
  @Answer(200, 'A page of entries', AuditEntriesResponse, {
    'X-Total-Count': { description: 'Total number of entries', schema: COUNT },
  })
  @Errors(invalidParameters('user_id must be a UUID'))
  async adminListAudit(
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
