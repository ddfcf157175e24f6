/** Second factors of a project's users, for administrators to help users who have lost their device. */
import { Controller, Delete, Get, Param, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { ServiceRoleGuard } from '../../access/service-role.guard';
import type { Project } from '../../projects/project';
import { toFactorView } from '../factors/factor';
import { AdminFactorsService } from '../admin/admin-factors.service';
import type { RequestOrigin } from '../audit/request-origin';
import { ApiAuthErrors } from './auth-responses.decorator';
import { CurrentOrigin } from './current-origin.decorator';
import { MessageDto } from './dto/auth-answers.dto';
import { FactorsDto } from './dto/factors.dto';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ApiParam({ name: 'project_id', type: String })
@ApiAuthErrors(401, 403, 500)
@Controller('v1/auth/:project_id/admin/users/:user_id/factors')
@UseGuards(ApiKeyGuard, BearerGuard, ServiceRoleGuard)
export class AdminFactorsController {
  constructor(private readonly factors: AdminFactorsService) {}

  @Get()
  @ApiOperation({ operationId: 'adminListFactors', summary: "List a user's second factors" })
  @ApiResponse({ status: 200, description: 'The oldest first', type: FactorsDto })
  async list(@CurrentProject() project: Project, @Param('user_id') userId: string): Promise<FactorsDto> {
    return { factors: (await this.factors.list(project, userId)).map(toFactorView) };
  }

  @Delete(':factor_id')
  @ApiOperation({
    operationId: 'adminRemoveFactor',
    summary: 'Remove a second factor that the user has lost',
  })
  @ApiResponse({ status: 200, description: 'The factor has been removed', type: MessageDto })
  @ApiAuthErrors(404)
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
