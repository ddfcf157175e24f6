/** Second factors of a project's users, for administrators to help users who have lost their device. */
import { Controller, Delete, Get, Param } from '@nestjs/common';
import { CurrentProject } from '../../access/current-caller.decorator';
import type { Project } from '../../projects/project';
import { toFactorView } from '../factors/factor';
import { AdminFactorsService } from '../admin/admin-factors.service';
import type { Sender } from '../../identity/request-origin';
import { CurrentSender } from '../../identity/http/current-origin.decorator';
import { MessageAnswer, MessageResponse } from './dto/auth-responses';
import { FactorsResponse } from './dto/factors.dto';
import { factorNotFound } from '../auth.errors';
import { AuthApi } from './auth-docs.decorator';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@AuthApi('service_role')
@Controller('v1/auth/:project_id/admin/users/:user_id/factors')
export class AdminFactorsController {
  constructor(private readonly factors: AdminFactorsService) {}

  @Get()
  @Describe(`List a user's second factors
    Needs the service-role key, as apikey or as bearer. Secrets are never returned. The list is empty for an unknown user.`)
  @Answer(200, 'The factors, oldest first', FactorsResponse)
  async adminListFactors(
    @CurrentProject() project: Project,
    @Param('user_id') userId: string,
  ): Promise<FactorsResponse> {
    return { factors: (await this.factors.list(project, userId)).map(toFactorView) };
  }

  @Delete(':factor_id')
  @Describe(`Remove a second factor that the user has lost
    Needs the service-role key, as apikey or as bearer. If no other factor is left, sessions that verified it fall back to \`aal1\` at their next refresh.`)
  @MessageAnswer('The factor has been removed', 'The factor has been removed')
  @Errors(factorNotFound())
  async adminRemoveFactor(
    @CurrentSender() from: Sender,
    @Param('user_id') userId: string,
    @Param('factor_id') id: string,
  ): Promise<MessageResponse> {
    await this.factors.remove(from, userId, id);
    return { message: 'The factor has been removed' };
  }
}
