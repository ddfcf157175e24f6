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
import { ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { SessionGuard } from '../../access/session.guard';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import type { Project } from '../../projects/project';
import { toFactorView } from '../factors/factor';
import { FactorService } from '../factors/factor.service';
import { ProfileService } from '../sessions/profile.service';
import type { RequestOrigin } from '../../identity/request-origin';
import type { SignedIn } from '../sessions/session-issuer.service';
import type { SessionOwner } from '../accounts/live-session';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { CurrentSession } from './current-session.decorator';
import { MessageDto, SignedInDto } from './dto/auth-answers.dto';
import { CodeDto, EnrolFactorDto, EnrolledFactorDto, FactorsDto } from './dto/factors.dto';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { invalidParameters } from '../../common/errors/http-errors';
import { wrongCode, factorNotFound, tooManyFactors, secondFactorRequired } from '../auth.errors';
import { AuthErrors, BEARER_ERRORS, tooManyRequests, ProjectIdParam, IdParam } from './auth-docs.decorator';
import { MAX_FACTORS } from '../factors/factor.repository';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ProjectIdParam()
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
  @ApiOperation({
    operationId: 'enrolFactor',
    summary: 'Start enrolling an authenticator app',
    description: `Needs the apikey and the access token of a session, which must have verified a second factor if the account has one. The new factor takes effect when its first code is verified; otherwise it is removed after 15 minutes. An account can have at most ten.`,
  })
  @JsonBody(EnrolFactorDto, { required: false })
  @Answer(200, 'The secret for the authenticator app; not shown again', EnrolledFactorDto)
  @AuthErrors(tooManyFactors(MAX_FACTORS), secondFactorRequired(), JSON_BODY_ERRORS, BEARER_ERRORS)
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
  @ApiOperation({
    operationId: 'listFactors',
    summary: 'List your second factors',
    description: `Needs the apikey and the access token of a session. Factors that are not confirmed yet are included. Secrets are never returned.`,
  })
  @Answer(200, 'The factors, oldest first', FactorsDto)
  @AuthErrors(BEARER_ERRORS)
  async list(@CurrentProject() project: Project, @CurrentSession() owner: SessionOwner): Promise<FactorsDto> {
    return { factors: (await this.factors.list(project, owner)).map(toFactorView) };
  }

  @Post(':factor_id/verify')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'verifyFactor',
    summary: 'Verify a second factor with a code',
    description: `Needs the apikey and the access token of a session. The first code confirms the factor. Each code works once, and wrong codes delay further attempts (429). Access tokens issued earlier stay at \`aal1\`, and the earlier refresh token is invalidated.`,
  })
  @IdParam('factor_id', 'The id of a factor, from the list of factors')
  @JsonBody(CodeDto)
  @Answer(200, 'The session, with new tokens (aal2)', SignedInDto)
  @AuthErrors(
    invalidParameters('code should not be empty'),
    wrongCode(),
    factorNotFound(),
    tooManyRequests(),
    JSON_BODY_ERRORS,
    BEARER_ERRORS,
  )
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
  @ApiOperation({
    operationId: 'removeFactor',
    summary: 'Remove a second factor',
    description: `Needs the apikey and the access token of a session, which must have verified a second factor if the account has one.`,
  })
  @IdParam('factor_id', 'The id of a factor, from the list of factors')
  @Answer(200, 'The factor has been removed', MessageDto)
  @AuthErrors(secondFactorRequired(), factorNotFound(), BEARER_ERRORS)
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
