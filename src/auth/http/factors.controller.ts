/** Second factors of the signed-in user. */
import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { CurrentProject } from '../../access/current-caller.decorator';
import { SessionGuard } from '../../access/session.guard';
import type { Project } from '../../projects/project';
import { FactorService } from '../factors/factor.service';
import { ProfileService } from '../sessions/profile.service';
import type { Sender } from '../../identity/request-origin';
import type { SignedIn } from '../sessions/session-issuer.service';
import type { SessionOwner } from '../accounts/account-statements';
import { CurrentSender } from '../../identity/http/current-origin.decorator';
import { CurrentSession } from './current-session.decorator';
import { MessageAnswer, MessageResponse, SignedInResponse } from './dto/auth-responses';
import {
  CodeDto,
  EnrolFactorDto,
  EnrolledFactorResponse,
  FactorsResponse,
  toFactorView,
} from './dto/factors.dto';
import { invalidParameters } from '../../common/errors/app-error';
import { wrongCode, factorNotFound, tooManyFactors, secondFactorRequired } from '../auth.errors';
import { AuthApi, tooManyRequests } from './auth-docs.decorator';
import { MAX_FACTORS } from '../factors/factor.repository';
import { Answer, Describe, Errors, JsonBody, PathErrors } from '../../http/docs/operation.decorators';

@AuthApi('bearer', SessionGuard)
@PathErrors({ ':factor_id': factorNotFound() })
@Controller('v1/auth/:project_id/factors')
export class FactorsController {
  constructor(
    private readonly factors: FactorService,
    private readonly profiles: ProfileService,
  ) {}

  @Post()
  @Describe(`Start enrolling an authenticator app
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one. The new factor takes effect when its first code is verified; otherwise it is removed after 15 minutes. An account can have at most ten.`)
  @JsonBody(EnrolFactorDto, { required: false })
  @Answer(200, 'The secret for the authenticator app; not shown again', EnrolledFactorResponse)
  @Errors(tooManyFactors(MAX_FACTORS), secondFactorRequired())
  async enrolFactor(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Body() { name }: EnrolFactorDto,
  ): Promise<EnrolledFactorResponse> {
    const account = await this.profiles.get(from.project, owner.userId, owner.sessionId);
    const enrolled = await this.factors.enrol(from, owner, account, name ?? undefined);
    return { kind: 'totp', ...enrolled };
  }

  @Get()
  @Describe(`List your second factors
    Needs the apikey and the access token of a session. Factors that are not confirmed yet are included. Secrets are never returned.`)
  @Answer(200, 'The factors, oldest first', FactorsResponse)
  async listFactors(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
  ): Promise<FactorsResponse> {
    return { factors: (await this.factors.list(project, owner)).map(toFactorView) };
  }

  @Post(':factor_id/verify')
  @Describe(`Verify a second factor with a code
    Needs the apikey and the access token of a session. The first code confirms the factor. Each code works once, and wrong codes delay further attempts (429). Access tokens issued earlier stay at \`aal1\`, and the earlier refresh token is invalidated.`)
  @Answer(200, 'The session, with new tokens (aal2)', SignedInResponse)
  @Errors(invalidParameters('code should not be empty'), wrongCode(), tooManyRequests())
  verifyFactor(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') id: string,
    @Body() { code }: CodeDto,
  ): Promise<SignedIn> {
    return this.factors.verify(from, owner, { id, code });
  }

  @Delete(':factor_id')
  @Describe(`Remove a second factor
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one.`)
  @MessageAnswer('The factor has been removed', 'The factor has been removed')
  @Errors(secondFactorRequired())
  async removeFactor(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') id: string,
  ): Promise<MessageResponse> {
    await this.factors.remove(from, owner, id);
    return { message: 'The factor has been removed' };
  }
}
