/** "View as": tokens to use a project as another user. */
import { Controller, Param, Post } from '@nestjs/common';
import { userNotFound } from '../auth.errors';
import { claimsFailed } from '../sessions/custom-claims';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import type { StaffCaller } from '../../staff/roles/staff';
import { ViewTokens } from '../views/view-token.service';
import { ViewAsDto, ViewTokenResponse } from './dto/view-as.dto';
import { StaffApi, CurrentActor, CurrentStaff } from '../../staff/http/staff-api.decorator';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@StaffApi()
@Controller('admin/v1/projects/:id/access-tokens')
export class ViewTokensController {
  constructor(private readonly views: ViewTokens) {}

  @Post()
  @Describe(`Create a five-minute token for the project's own API: as anon, a user, any claims, or service_role
    Needs a role in the project. Staff and tokens with read-only access get a read-only token: methods other than GET, HEAD and OPTIONS are refused with 403. Each call is recorded in the audit log.`)
  @Answer(201, 'The token, and the apikey to send with it', ViewTokenResponse)
  @Errors(invalidParameters('user_id is needed with as=user, and with nothing else'), userNotFound())
  @Errors(claimsFailed(null))
  async createViewToken(
    @CurrentStaff() staff: StaffCaller,
    @Param('id') projectId: string,
    @StrictBody() body: ViewAsDto,
    @CurrentActor() actor: Actor,
  ): Promise<ViewTokenResponse> {
    return this.views.issue(staff, projectId, body, actor);
  }
}
