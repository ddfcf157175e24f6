/** Second factors of the signed-in user. */
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBody, ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { SessionGuard } from '../../access/session.guard';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import type { Project } from '../../projects/project';
import { toFactorView } from '../factors/factor';
import { FactorService } from '../factors/factor.service';
import { ProfileService } from '../sessions/profile.service';
import type { RequestOrigin } from '../audit/request-origin';
import type { SignedIn } from '../sessions/session-issuer.service';
import type { SessionOwner } from '../accounts/live-session';
import { ApiAuthErrors } from './auth-responses.decorator';
import { CurrentOrigin } from './current-origin.decorator';
import { CurrentSession } from './current-session.decorator';
import { MessageDto, SignedInDto } from './dto/auth-answers.dto';
import { CodeDto, EnrolFactorDto, EnrolledFactorDto, FactorsDto } from './dto/factors.dto';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ApiParam({ name: 'project_id', type: String })
@ApiAuthErrors(401, 500)
@Controller('v1/auth/:project_id/factors')
@UseGuards(ApiKeyGuard, BearerGuard, SessionGuard)
@UseInterceptors(JsonBodyInterceptor)
export class FactorsController {
  constructor(
    private readonly factors: FactorService,
    private readonly profiles: ProfileService,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiBody({ type: EnrolFactorDto, required: false })
  @ApiOperation({ operationId: 'enrolFactor', summary: 'Begin to enrol an authenticator app' })
  @ApiResponse({
    status: 200,
    description: 'The secret for the app; not shown again',
    type: EnrolledFactorDto,
  })
  @ApiAuthErrors(400, 403)
  async enrol(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Body() { name }: EnrolFactorDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<EnrolledFactorDto> {
    const account = await this.profiles.get(project, owner.userId, owner.sessionId);
    const enrolled = await this.factors.enrol(project, owner, account, name ?? undefined, origin);
    return { kind: 'totp', ...enrolled };
  }

  @Get()
  @ApiOperation({ operationId: 'listFactors', summary: 'List your second factors' })
  @ApiResponse({ status: 200, description: 'The oldest first', type: FactorsDto })
  async list(@CurrentProject() project: Project, @CurrentSession() owner: SessionOwner): Promise<FactorsDto> {
    return { factors: (await this.factors.list(project, owner)).map(toFactorView) };
  }

  @Post(':factor_id/verify')
  @HttpCode(200)
  @ApiOperation({ operationId: 'verifyFactor', summary: 'Raise the session to two factors with a code' })
  @ApiResponse({ status: 200, description: 'The session, with new tokens (aal2)', type: SignedInDto })
  @ApiAuthErrors(400, 404, 429)
  verify(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') id: string,
    @Body() { code }: CodeDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<SignedIn> {
    return this.factors.verify(project, owner, { id, code }, origin);
  }

  @Delete(':factor_id')
  @ApiOperation({ operationId: 'removeFactor', summary: 'Remove a second factor' })
  @ApiResponse({ status: 200, description: 'The factor has been removed', type: MessageDto })
  @ApiAuthErrors(403, 404)
  async remove(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.factors.remove(project, owner, id, origin);
    return { message: 'The factor has been removed' };
  }
}
