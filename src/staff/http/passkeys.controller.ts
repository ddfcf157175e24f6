/** Passkeys of staff: sign-in with a passkey, and the passkeys of the sender's account. */
import { Controller, Delete, Get, Param, Patch, Post, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import { tooShortPassword } from '../../identity/passwords/password-policy';
import { ClientThrottlerGuard, LIMIT_HEADERS } from '../../identity/http/client-throttler.guard';
import { invalidParameters } from '../../common/errors/app-error';
import { tooManyHeaders } from '../../http/request-head';
import { StrictBody } from '../../http/input/strict-input.decorator';
import type { StaffMember } from '../accounts/staff-member';
import { MAX_PASSKEYS, type PasskeyRecord } from '../passkeys/passkey.repository';
import { Passkeys } from '../passkeys/passkey.service';
import { StaffSessions } from '../sessions/staff-session.service';
import type { Browser, StaffBrowser } from '../sessions/browser';
import { StaffSignIn } from '../sessions/staff-sign-in.service';
import { passkeyNotFound, stepUpRequired, tooManyPasskeys } from '../staff.errors';
import { flowOver, passkeyFailed, wrongCredentials } from '../../identity/identity.errors';
import {
  EnrolledPasskeyResponse,
  EnrolPasskeyDto,
  PasskeyResponse,
  PasskeyOptionsResponse,
  PasskeySignInDto,
  RenamePasskeyDto,
} from './dto/passkeys.dto';
import { BeginFactorDto } from './dto/staff-inputs.dto';
import { StaffSessionResponse } from './dto/staff-responses';
import { StaffSessionGuard } from './staff.guard';
import { SESSION_HEADERS, SessionResponses } from './session-responses.service';
import {
  PublicStaffApi,
  StaffApi,
  CurrentBrowser,
  CurrentStaffBrowser,
  CurrentStaffMember,
} from './staff-api.decorator';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

const CHALLENGE_HEADERS = { ...SESSION_HEADERS, ...LIMIT_HEADERS };

const PASSWORD_ERRORS = [
  invalidParameters('password must be a string'),
  tooShortPassword(),
  wrongCredentials(),
  stepUpRequired(),
  rateLimited(60),
];

const CREATE_PASSKEY_ERRORS = Errors(
  invalidParameters('name must not be blank'),
  tooManyPasskeys(MAX_PASSKEYS),
  passkeyFailed(),
  flowOver(),
);

@PublicStaffApi()
@Controller('admin/v1/session/passkey')
export class PasskeySignInController {
  constructor(
    private readonly passkeys: Passkeys,
    private readonly signIn: StaffSignIn,
    private readonly responses: SessionResponses,
  ) {}

  @Post('options')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('it makes a challenge, and names no account')
  @Describe(`Get a challenge to sign in with a passkey
    Sets a cookie that is valid for ten minutes. The challenge works once, in the same browser. The number of requests per client address is limited (429).`)
  @Answer(200, 'Options for navigator.credentials.get()', PasskeyOptionsResponse, CHALLENGE_HEADERS)
  @Errors(rateLimited(60), tooManyHeaders())
  beginPasskeySignIn(@Res({ passthrough: true }) response: Response): PasskeyOptionsResponse {
    return { options: this.passkeys.challenge(response) };
  }

  @Post()
  @PublicRoute('the signature of the passkey in the body is the credential')
  @Describe(`Sign in with a passkey
    The authenticator must have verified its user, by PIN or biometrics. One that has not can still be the second factor after a password: see POST /admin/v1/session.`)
  @Answer(200, 'The session, with its cookie', StaffSessionResponse, SESSION_HEADERS)
  @Errors(invalidParameters('credential must be an object'), passkeyFailed(), flowOver())
  async signInWithPasskey(
    @StrictBody() { credential }: PasskeySignInDto,
    @CurrentBrowser() browser: Browser,
  ): Promise<StaffSessionResponse> {
    const member = await this.passkeys.memberWith(credential, true, browser);
    return this.responses.current(await this.signIn.enter(member, browser, { by: 'passkey' }));
  }
}

// Nest runs the guards of the lower decorator first.
@StaffApi(StaffSessionGuard)
@Controller('admin/v1/passkeys')
export class PasskeysController {
  constructor(
    private readonly passkeys: Passkeys,
    private readonly signIn: StaffSignIn,
    private readonly sessions: StaffSessions,
  ) {}

  @Get()
  @Describe(`List your passkeys, the oldest first
    Needs a session.`)
  @Answer(200, 'The passkeys', [PasskeyResponse])
  async listPasskeys(@CurrentStaffMember() member: StaffMember): Promise<PasskeyResponse[]> {
    return (await this.passkeys.list(member)).map(toView);
  }

  @Post('options')
  @Describe(`Start adding a passkey
    Needs a session and the password again, or, for a staff member without a password, a confirmed session.`)
  @Answer(200, 'Options for navigator.credentials.create()', PasskeyOptionsResponse, SESSION_HEADERS)
  @Errors(tooManyPasskeys(MAX_PASSKEYS), ...PASSWORD_ERRORS)
  async beginPasskey(
    @CurrentStaffBrowser() browser: StaffBrowser,
    @StrictBody() { password }: BeginFactorDto,
  ): Promise<PasskeyOptionsResponse> {
    await this.signIn.assertStillThere(browser, password ?? null);
    return { options: await this.passkeys.beginEnrolment(browser) };
  }

  @Post()
  @Describe(`Add the passkey that the browser created
    Needs the session that began it. All other sessions of the staff member end, because they may have begun with a password alone.`)
  @Answer(201, 'The passkey; recovery codes for a first factor', EnrolledPasskeyResponse, SESSION_HEADERS)
  @CREATE_PASSKEY_ERRORS
  async createPasskey(
    @CurrentStaffBrowser() browser: StaffBrowser,
    @StrictBody() body: EnrolPasskeyDto,
  ): Promise<EnrolledPasskeyResponse> {
    const { record, recoveryCodes } = await this.passkeys.enrol(browser, body);
    await this.sessions.endAll(browser.member.id, browser.session.id);
    return { ...toView(record), recovery_codes: recoveryCodes };
  }

  @Patch(':id')
  @Describe(`Rename a passkey
    Needs a session.`)
  @Answer(200, 'The passkey', PasskeyResponse)
  @Errors(invalidParameters('name must not be blank'), passkeyNotFound())
  async renamePasskey(
    @CurrentStaffMember() member: StaffMember,
    @Param('id') id: string,
    @StrictBody() { name }: RenamePasskeyDto,
  ): Promise<PasskeyResponse> {
    return toView(await this.passkeys.rename(member, id, name));
  }

  @Delete(':id')
  @Describe(`Delete a passkey
    Needs a session and the password again, or, for a staff member without a password, a confirmed session.`)
  @Answer(204, 'The passkey no longer works')
  @Errors(passkeyNotFound(), ...PASSWORD_ERRORS)
  async deletePasskey(
    @CurrentStaffBrowser() browser: StaffBrowser,
    @Param('id') id: string,
    @StrictBody() { password }: BeginFactorDto,
  ): Promise<void> {
    await this.passkeys.assertOwn(browser.member, id);
    await this.signIn.assertStillThere(browser, password ?? null);
    await this.passkeys.remove(browser, id);
  }
}

const toView = ({ id, name, createdAt, lastUsedAt }: PasskeyRecord): PasskeyResponse => ({
  id,
  name,
  created_at: createdAt,
  last_used_at: lastUsedAt,
});
