/** Sessions of staff: sign-in, sign-out, and changes to a staff member's own account. */
import { Controller, Delete, Get, Patch, Post, Put, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import type { RequestOrigin } from '../../identity/request-origin';
import { tooShortPassword } from '../../identity/passwords/password-policy';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody } from '../../http/input/strict-input.decorator';
import type { StaffMember } from '../accounts/staff-member';
import { Passkeys } from '../passkeys/passkey.service';
import { StaffFactors } from '../factors/staff-factor.service';
import { sessionOf, StaffCaller } from '../roles/staff';
import { SessionCookies } from '../sessions/session-cookies.service';
import { StaffSessions } from '../sessions/staff-session.service';
import { StaffSignIn } from '../sessions/staff-sign-in.service';
import { factorExists, factorRequired, noFactor, stepUpRequired, wrongFactorCode } from '../staff.errors';
import { flowOver, passkeyFailed, wrongCredentials } from '../../identity/identity.errors';
import {
  BeginFactorDto,
  ChangeStaffPasswordDto,
  ConfirmSessionDto,
  FactorCodeDto,
  SignInStaffDto,
} from './dto/staff-inputs.dto';
import { FactorSecretResponse, RecoveryCodesResponse, StaffSessionResponse } from './dto/staff-responses';
import { StaffSessionGuard } from './staff.guard';
import { SESSION_HEADERS, SessionResponses } from './session-responses.service';
import { PublicStaffApi, StaffApi, CurrentStaffMember, CurrentStaff } from './staff-api.decorator';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import type { ErrorList } from '../../http/docs/error-docs';

const SIGN_IN_ERRORS: ErrorList = [
  invalidParameters('email should not be empty'),
  tooShortPassword(),
  wrongCredentials(),
  factorRequired(),
];

const CONFIRM_ERRORS: ErrorList = [
  invalidParameters('one of password, code and passkey is needed'),
  wrongCredentials(),
  wrongFactorCode(),
];

@PublicStaffApi()
@Controller('admin/v1/session')
export class StaffSignInController {
  constructor(
    private readonly signIn: StaffSignIn,
    private readonly cookies: SessionCookies,
    private readonly passkeys: Passkeys,
    private readonly responses: SessionResponses,
  ) {}

  @Post()
  @PublicRoute('it checks the email and the password in the body')
  @Describe(`Sign in to the administration
    Sets the session cookie. If the client already has a session, that session ends. An account with a second factor needs one of its codes, a recovery code, or a passkey (with the challenge of POST /admin/v1/session/passkey/options); the error \`factor_required\` asks for it. Failed attempts delay further ones (429).`)
  @Answer(200, 'The session, with its cookie', StaffSessionResponse, SESSION_HEADERS)
  @Errors(SIGN_IN_ERRORS)
  @Errors(wrongFactorCode(), passkeyFailed(), flowOver(), rateLimited(60))
  async signInStaff(
    @StrictBody() { email, password, code, passkey }: SignInStaffDto,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StaffSessionResponse> {
    const input = {
      email,
      password,
      ...(code ? { code } : {}),
      ...(passkey ? { passkey: () => this.passkeys.memberWith(passkey, false, request, response) } : {}),
    };
    const staff = await this.signIn.signIn(input, this.cookies.read(request), origin);
    return this.responses.begun(staff, response);
  }
}

@StaffApi()
@Controller('admin/v1/session')
export class StaffSessionController {
  constructor(
    private readonly signIn: StaffSignIn,
    private readonly sessions: StaffSessions,
    private readonly cookies: SessionCookies,
    private readonly factors: StaffFactors,
    private readonly passkeys: Passkeys,
    private readonly responses: SessionResponses,
  ) {}

  @Get()
  @Describe(`Get the staff member that the credentials belong to, with their roles
    For any credential of the administration: session, token or PLATFORM_ADMIN_KEY.`)
  @Answer(200, 'The staff member and their roles', StaffSessionResponse)
  getStaffSession(@CurrentStaff() staff: StaffCaller): StaffSessionResponse {
    return this.responses.current(staff);
  }

  @Delete()
  @UseGuards(StaffSessionGuard)
  @Describe(`End the session
    Needs a session.`)
  @Answer(204, 'The session has ended, and the cookie is removed', undefined, SESSION_HEADERS)
  async signOutStaff(
    @CurrentStaff() staff: StaffCaller,
    @CurrentStaffMember() member: StaffMember,
    @CurrentOrigin() origin: RequestOrigin,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.signIn.signOut(member, sessionOf(staff).id, origin);
    this.cookies.clear(response);
  }

  @Post('confirm')
  @UseGuards(StaffSessionGuard)
  @Describe(`Prove again who you are, for ten minutes
    Needs a session, and the password, a code of the second factor, or a passkey (with the challenge of POST /admin/v1/session/passkey/options). The error \`step_up_required\` asks for it; signing in counts as well. The session gets a new cookie.`)
  @Answer(204, 'The session is confirmed', undefined, SESSION_HEADERS)
  @Errors(CONFIRM_ERRORS)
  @Errors(passkeyFailed(), flowOver(), rateLimited(60))
  async confirmStaffSession(
    @CurrentStaff() staff: StaffCaller,
    @CurrentStaffMember() member: StaffMember,
    @StrictBody() { password, code, passkey }: ConfirmSessionDto,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const proof = {
      ...(password ? { password } : {}),
      ...(code ? { code } : {}),
      ...(passkey ? { passkey: () => this.passkeys.memberWith(passkey, false, request, response) } : {}),
    };
    this.cookies.write(response, await this.signIn.confirm(member, sessionOf(staff), proof, origin));
  }

  @Patch('password')
  @UseGuards(StaffSessionGuard)
  @Describe(`Change your password
    Needs a session. All other sessions of the staff member end, and this one gets a new cookie. With \`end_tokens\`, all personal access tokens end, too.`)
  @Answer(200, 'The session, with a new cookie', StaffSessionResponse, SESSION_HEADERS)
  @Errors(invalidParameters('current_password should not be empty'), tooShortPassword(), wrongCredentials())
  @Errors(rateLimited(60))
  async changeStaffPassword(
    @CurrentStaff() staff: StaffCaller,
    @CurrentStaffMember() member: StaffMember,
    @StrictBody() {
      current_password: current,
      password: next,
      end_tokens: endTokens,
    }: ChangeStaffPasswordDto,
    @CurrentOrigin() origin: RequestOrigin,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StaffSessionResponse> {
    const change = { current, next, endTokens: endTokens ?? false };
    const renewed = await this.signIn.changePassword(member, sessionOf(staff), change, origin);
    this.cookies.write(response, renewed);
    return this.responses.current(staff);
  }

  @Post('factor')
  @UseGuards(StaffSessionGuard)
  @Describe(`Start setting up a second factor (an authenticator app)
    Needs a session and the password again, so that a stolen session cannot lock its owner out. Staff who only use single sign-on have no password; their session must be confirmed (POST /admin/v1/session/confirm). The factor takes effect when PUT confirms it with a code.`)
  @Answer(200, 'The secret for the app', FactorSecretResponse)
  @Errors(invalidParameters('password should not be empty'), tooShortPassword(), wrongCredentials())
  @Errors(stepUpRequired(), factorExists(), rateLimited(60))
  async beginStaffFactor(
    @CurrentStaff() staff: StaffCaller,
    @CurrentStaffMember() member: StaffMember,
    @StrictBody() { password }: BeginFactorDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<FactorSecretResponse> {
    await this.signIn.assertStillThere(member, sessionOf(staff), password ?? null, origin);
    return this.factors.begin(member);
  }

  @Put('factor')
  @UseGuards(StaffSessionGuard)
  @Describe(`Confirm the second factor with its first code
    Needs a session. All other sessions of the staff member end, because they began with a password alone.`)
  @Answer(200, 'Recovery codes, which are not shown again', RecoveryCodesResponse, SESSION_HEADERS)
  @Errors(invalidParameters('code should not be empty'), wrongFactorCode(), noFactor(), factorExists())
  @Errors(rateLimited(60))
  async confirmStaffFactor(
    @CurrentStaff() staff: StaffCaller,
    @CurrentStaffMember() member: StaffMember,
    @StrictBody() { code }: FactorCodeDto,
    @CurrentOrigin() origin: RequestOrigin,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecoveryCodesResponse> {
    const codes = await this.factors.confirm(member, code, origin);
    const { id, expiresAt } = sessionOf(staff);
    await this.sessions.endAll(member.id, id);
    const renewed = await this.sessions.replaceToken(id, expiresAt);
    if (renewed) this.cookies.write(response, renewed);
    return { recovery_codes: codes };
  }

  @Delete('factor')
  @UseGuards(StaffSessionGuard)
  @Describe(`Remove the second factor and its recovery codes
    Needs a session, and a code of the factor or a recovery code.`)
  @Answer(204, 'The factor is removed')
  @Errors(invalidParameters('code should not be empty'), wrongFactorCode(), noFactor(), rateLimited(60))
  async removeStaffFactor(
    @CurrentStaffMember() member: StaffMember,
    @StrictBody() { code }: FactorCodeDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<void> {
    await this.factors.remove(member, code, origin);
  }
}
