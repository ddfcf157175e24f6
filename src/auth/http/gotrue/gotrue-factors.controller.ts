/** GoTrue's paths for second factors of the signed-in user. */
import { Body, Delete, Param, Post } from '@nestjs/common';
import { renderSVG } from 'uqr';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { SessionGuard } from '../../../access/session.guard';
import { Clock } from '../../../common/time/clock';
import { Answer, Describe, Errors } from '../../../http/docs/operation.decorators';
import { CurrentOrigin } from '../../../identity/http/current-origin.decorator';
import type { RequestOrigin } from '../../../identity/request-origin';
import { Project } from '../../../projects/project';
import { AccountDetailsRepository } from '../../factors/account-details.repository';
import type { SessionOwner } from '../../accounts/account-statements';
import {
  factorNotFound,
  secondFactorRequired,
  tooManyFactors,
  userNotFound,
  wrongCode,
} from '../../auth.errors';
import { isChallenge, newChallenge } from '../../factors/challenge-ids';
import { MAX_FACTORS } from '../../factors/factor.repository';
import { FactorService } from '../../factors/factor.service';
import { ProfileService } from '../../sessions/profile.service';
import { tooManyRequests } from '../auth-docs.decorator';
import { CurrentSession } from '../current-session.decorator';
import {
  GoTrueChallengeResponse,
  GoTrueEnrolledResponse,
  GoTrueSessionResponse,
  IdResponse,
} from './dto/gotrue-responses';
import { GoTrueEnrolDto, GoTrueVerifyFactorDto } from './dto/gotrue-inputs.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { anonymousFactor, challengeExpired, factorTypeDisabled } from './gotrue-errors';
import { toGoTrueSession, toGoTrueUser } from './gotrue-views';

@GoTrueApi('bearer', SessionGuard)
@GoTrueController('factors')
export class GoTrueFactorsController {
  constructor(
    private readonly factors: FactorService,
    private readonly profiles: ProfileService,
    private readonly details: AccountDetailsRepository,
    private readonly clock: Clock,
  ) {}

  @Post()
  @Describe(`Start enrolling an authenticator app (GoTrue)
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one.`)
  @Answer(200, 'The secret for the authenticator app; not shown again', GoTrueEnrolledResponse)
  @Errors(factorTypeDisabled(), anonymousFactor(), tooManyFactors(MAX_FACTORS), secondFactorRequired())
  async goTrueEnrolFactor(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Body() { factor_type: type, friendly_name: name }: GoTrueEnrolDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<GoTrueEnrolledResponse> {
    const account = await this.profiles.get(project, owner.userId, owner.sessionId);
    if (account.isAnonymous) throw anonymousFactor();
    if (type !== 'totp') throw factorTypeDisabled();
    const enrolled = await this.factors.enrol(project, owner, account, name ?? undefined, origin);
    const { id, secret, uri } = enrolled;
    return { id, type, friendly_name: enrolled.name, totp: { qr_code: renderSVG(uri), secret, uri } };
  }

  @Post(':factor_id/challenge')
  @Describe(`Ask for a challenge of a factor (GoTrue)
    Needs the apikey and the access token of a session. \`verify\` takes its id within five minutes.`)
  @Answer(200, 'The challenge', GoTrueChallengeResponse)
  @Errors(factorNotFound())
  async goTrueChallengeFactor(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') factorId: string,
  ): Promise<GoTrueChallengeResponse> {
    const factors = await this.factors.list(project, owner);
    if (!factors.some(({ id }) => id === factorId.toLowerCase())) throw factorNotFound();
    const subject = { sessionId: owner.sessionId, factorId };
    const { id, expiresAt } = newChallenge(project, subject, this.clock.nowSeconds());
    return { id, type: 'totp', expires_at: expiresAt };
  }

  @Post(':factor_id/verify')
  @Describe(`Verify a factor with a challenge and a code (GoTrue)
    Needs the apikey and the access token of a session. The first code confirms the factor. Each code works once, and wrong codes delay further attempts (429).`)
  @Answer(200, 'The session, with new tokens (aal2)', GoTrueSessionResponse)
  @Errors(challengeExpired(), wrongCode(), factorNotFound(), tooManyRequests())
  async goTrueVerifyFactor(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') factorId: string,
    @Body() { challenge_id: challenge, code }: GoTrueVerifyFactorDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<GoTrueSessionResponse> {
    const now = this.clock.nowSeconds();
    const subject = { sessionId: owner.sessionId, factorId };
    if (!isChallenge(project, subject, challenge, now)) {
      // 401 for a session that is over comes first.
      await this.profiles.get(project, owner.userId, owner.sessionId);
      throw challengeExpired();
    }
    const signedIn = await this.factors.verify(project, owner, { id: factorId, code }, origin);
    const found = await this.details.find(project, owner.userId);
    if (!found) throw userNotFound();
    return toGoTrueSession(signedIn, toGoTrueUser(project, found), now);
  }

  @Delete(':factor_id')
  @Describe(`Remove a second factor (GoTrue)
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one.`)
  @Answer(200, 'The factor has been removed', IdResponse)
  @Errors(secondFactorRequired(), factorNotFound())
  async goTrueRemoveFactor(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<IdResponse> {
    await this.factors.remove(project, owner, id, origin);
    return { id };
  }
}
