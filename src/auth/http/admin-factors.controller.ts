/** Second factors of a project's users, for administrators to help users who have lost their device. */
import { Controller, Delete, Get, Param, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { ServiceRoleGuard } from '../../access/service-role.guard';
import type { Project } from '../../projects/project';
import { toFactorView } from '../factors/factor';
import { AdminFactorsService } from '../admin/admin-factors.service';
import type { RequestOrigin } from '../../identity/request-origin';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { MessageDto } from './dto/auth-answers.dto';
import { FactorsDto } from './dto/factors.dto';
import { Answer } from '../../http/docs/answer.decorator';
import { factorNotFound } from '../auth.errors';
import { AuthErrors, SERVICE_ERRORS, ProjectIdParam, IdParam } from './auth-docs.decorator';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ProjectIdParam()
@Controller('v1/auth/:project_id/admin/users/:user_id/factors')
@UseGuards(ApiKeyGuard, BearerGuard, ServiceRoleGuard)
export class AdminFactorsController {
  constructor(private readonly factors: AdminFactorsService) {}

  @Get()
  @ApiOperation({
    operationId: 'adminListFactors',
    summary: "List a user's second factors",
    description:
      'Needs the service-role key, as apikey or as bearer. Secrets are never returned. The list is empty for an unknown user.',
  })
  @IdParam('user_id', 'The id of the user')
  @Answer(200, 'The factors, oldest first', FactorsDto)
  @AuthErrors(SERVICE_ERRORS)
  async list(@CurrentProject() project: Project, @Param('user_id') userId: string): Promise<FactorsDto> {
    return { factors: (await this.factors.list(project, userId)).map(toFactorView) };
  }

  @Delete(':factor_id')
  @ApiOperation({
    operationId: 'adminRemoveFactor',
    summary: 'Remove a second factor that the user has lost',
    description:
      'Needs the service-role key, as apikey or as bearer. If no other factor is left, sessions that verified it fall back to `aal1` at their next refresh.',
  })
  @IdParam('user_id', 'The id of the user')
  @IdParam('factor_id', 'The id of a factor, from the list of factors')
  @Answer(200, 'The factor has been removed', MessageDto)
  @AuthErrors(factorNotFound(), SERVICE_ERRORS)
  async remove(
    @CurrentProject() project: Project,
    @Param('user_id') userId: string,
    @Param('factor_id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.factors.remove(project, userId, id, origin);
    return { message: 'The factor has been removed' };
  }
}
