/** GoTrue's paths for second factors of the signed-in user. */
import { Body, Delete, Headers, Param, Post } from '@nestjs/common';
import { renderSVG } from 'uqr';
import { SessionGuard } from '../../../access/session.guard';
import { Clock } from '../../../common/time/clock';
import { Answer, Describe, Errors, JsonBody, PathErrors } from '../../../http/docs/operation.decorators';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import { passkeyFailed } from '../../../identity/identity.errors';
import type { Sender } from '../../../identity/request-origin';
import type { SessionOwner } from '../../accounts/account-statements';
import {
  factorNotFound,
  passkeysDisabled,
  phoneDisabled,
  secondFactorRequired,
  tooManyFactors,
  wrongCode,
} from '../../auth.errors';
import { isChallenge, newChallenge } from '../../factors/challenges';
import { MAX_FACTORS } from '../../factors/factor.repository';
import { FactorService } from '../../factors/factor.service';
import { factorSubject, SecurityKeys } from '../../factors/security-keys.service';
import { hookFailed, hookRefused } from '../../hooks/hook.errors';
import { PhoneFactors } from '../../phones/phone-factors.service';
import { ProfileService } from '../../sessions/profile.service';
import { tooManyRequests } from '../auth-docs.decorator';
import { CurrentSession } from '../current-session.decorator';
import {
  GoTrueChallengeResponse,
  GoTrueEnrolledResponse,
  GoTrueSessionResponse,
  IdResponse,
} from './dto/gotrue-responses';
import { GoTrueChallengeDto, GoTrueEnrolDto, GoTrueVerifyFactorDto } from './dto/gotrue-inputs.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { anonymousFactor, challengeExpired, invalidPhone } from './gotrue-errors';
import { phoneOf } from './gotrue-mail-types';
import { GoTrueAnswers } from './gotrue-answers.service';

const ENROL_FACTOR_ERRORS = Errors(
  phoneDisabled(),
  invalidPhone(),
  passkeysDisabled(),
  anonymousFactor(),
  tooManyFactors(MAX_FACTORS),
  secondFactorRequired(),
);

@GoTrueApi('bearer', SessionGuard)
@PathErrors({ ':factor_id': factorNotFound() })
@GoTrueController('factors')
export class GoTrueFactorsController {
  constructor(
    private readonly factors: FactorService,
    private readonly keys: SecurityKeys,
    private readonly phones: PhoneFactors,
    private readonly profiles: ProfileService,
    private readonly answers: GoTrueAnswers,
    private readonly clock: Clock,
  ) {}

  @Post()
  @Describe(`Start enrolling a second factor (GoTrue)
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one. A security key (\`webauthn\`) also needs the setting \`passkeys_enabled\`.`)
  @Answer(
    200,
    'The factor, and the secret for an authenticator app, which is not shown again',
    GoTrueEnrolledResponse,
  )
  @ENROL_FACTOR_ERRORS
  async goTrueEnrolFactor(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Body() { factor_type: type, friendly_name: name, phone }: GoTrueEnrolDto,
  ): Promise<GoTrueEnrolledResponse> {
    const account = await this.profiles.get(from.project, owner.userId, owner.sessionId);
    if (account.isAnonymous) throw anonymousFactor();
    if (type === 'webauthn') {
      const key = await this.keys.enrol(from, owner, name);
      return { id: key.id, type, friendly_name: key.name };
    }
    if (type === 'phone') {
      const number = phoneOf(phone);
      const made = await this.phones.enrol(from, owner, { phone: number, name });
      return { ...made, type, phone: number };
    }
    const enrolled = await this.factors.enrol(from, owner, account, name);
    const { id, secret, uri } = enrolled;
    return { id, type, friendly_name: enrolled.name, totp: { qr_code: renderSVG(uri), secret, uri } };
  }

  @Post(':factor_id/challenge')
  @Describe(`Ask for a challenge of a factor (GoTrue)
    A phone gets a code. Needs the apikey and the access token of a session. \`verify\` takes its id within five minutes.`)
  @JsonBody(GoTrueChallengeDto, { required: false })
  @Answer(200, 'The challenge', GoTrueChallengeResponse)
  @Errors(passkeysDisabled(), phoneDisabled(), tooManyRequests())
  @Errors(hookRefused(403, 'Not this phone'), hookFailed('send_sms_hook', null))
  async goTrueChallengeFactor(
    @CurrentSender() { project, origin }: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') factorId: string,
    @Body() { webauthn }: GoTrueChallengeDto,
    @Headers('origin') site: string | undefined,
  ): Promise<GoTrueChallengeResponse> {
    const factors = await this.factors.list(project, owner);
    const factor = factors.find(({ id }) => id === factorId.toLowerCase());
    if (!factor) throw factorNotFound();
    if (factor.kind === 'phone') await this.phones.challenge({ project, origin }, owner, factorId);
    if (factor.kind !== 'webauthn') {
      const { id, expiresAt } = newChallenge(project, factorSubject(owner, factorId), this.clock.now());
      return { id, type: factor.kind, expires_at: Math.floor(expiresAt / 1000) };
    }
    const account = await this.profiles.get(project, owner.userId, owner.sessionId);
    const wanted = { rpId: webauthn?.rpId, site };
    const issued = await this.keys.challenge(project, owner, account, factorId, wanted);
    return {
      id: issued.id,
      type: factor.kind,
      expires_at: Math.floor(issued.expiresAt / 1000),
      webauthn: { type: issued.type, credential_options: { publicKey: issued.options } },
    };
  }

  @Post(':factor_id/verify')
  @Describe(`Verify a factor with a challenge and a code, or the answer of a key (GoTrue)
    Needs the apikey and the access token of a session. The first code confirms the factor. Each code works once, and wrong codes delay further attempts (429).`)
  @Answer(200, 'The session, with new tokens (aal2)', GoTrueSessionResponse)
  @Errors(challengeExpired(), wrongCode(), passkeyFailed(), tooManyRequests())
  async goTrueVerifyFactor(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') factorId: string,
    @Body() { challenge_id: challengeId, code, webauthn }: GoTrueVerifyFactorDto,
  ): Promise<GoTrueSessionResponse> {
    const isValid = isChallenge(from.project, factorSubject(owner, factorId), challengeId, this.clock.now());
    if (!isValid) {
      // Checks the session first, which is answered with 401 if it is over.
      await this.profiles.get(from.project, owner.userId, owner.sessionId);
      throw challengeExpired();
    }
    const answer = webauthn && { id: factorId, challengeId, credential: webauthn.credential_response };
    const signedIn = answer
      ? await this.keys.verify(from, owner, answer)
      : await this.phones.verify(from, owner, { id: factorId, challengeId, code: code ?? '' });
    return this.answers.sessionOf(from.project, signedIn);
  }

  @Delete(':factor_id')
  @Describe(`Remove a second factor (GoTrue)
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one.`)
  @Answer(200, 'The factor has been removed', IdResponse)
  @Errors(secondFactorRequired())
  async goTrueRemoveFactor(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('factor_id') id: string,
  ): Promise<IdResponse> {
    await this.factors.remove(from, owner, id);
    return { id };
  }
}
