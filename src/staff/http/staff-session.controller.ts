/** Sessions of staff: sign-in, sign-out, and changes to a staff member's own account. */
import { Controller, Delete, Get, Param, Patch, Post, Put, UseGuards } from '@nestjs/common';
import { rateLimited } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import { tooShortPassword } from '../../identity/passwords/password-policy';
import type { StaffBrowser, Browser } from '../sessions/browser';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { StaffFactors } from '../factors/staff-factor.service';
import { StaffCaller } from '../roles/staff';
import { SessionCookies } from '../sessions/session-cookies.service';
import { StaffSessions } from '../sessions/staff-session.service';
import { StaffSignIn } from '../sessions/staff-sign-in.service';
import { factorExists, factorRequired, noFactor, stepUpRequired, wrongFactorCode } from '../staff.errors';
import { flowOver, passkeyFailed, sessionNotFound, wrongCredentials } from '../../identity/identity.errors';
import {
  BeginFactorDto,
  ChangeStaffPasswordDto,
  ConfirmSessionDto,
  FactorCodeDto,
  SignInStaffDto,
} from './dto/staff-inputs.dto';
import {
  FactorSecretResponse,
  RecoveryCodesResponse,
  StaffSessionResponse,
  StaffSessionInfoResponse,
} from './dto/staff-responses';
import { StaffSessionGuard } from './staff.guard';
import { SESSION_HEADERS, SessionResponses } from './session-responses.service';
import {
  PublicStaffApi,
  StaffApi,
  CurrentBrowser,
  CurrentStaffBrowser,
  CurrentStaff,
} from './staff-api.decorator';
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
    @StrictBody() body: SignInStaffDto,
    @CurrentBrowser() browser: Browser,
  ): Promise<StaffSessionResponse> {
    return this.responses.current(await this.signIn.signIn(body, browser));
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
  async signOutStaff(@CurrentStaffBrowser() browser: StaffBrowser): Promise<void> {
    await this.signIn.signOut(browser);
  }

  @Post('confirm')
  @UseGuards(StaffSessionGuard)
  @Describe(`Prove again who you are, for ten minutes
    Needs a session, and the password, a code of the second factor, or a passkey (with the challenge of POST /admin/v1/session/passkey/options). The error \`step_up_required\` asks for it; signing in counts as well. The session gets a new cookie.`)
  @Answer(204, 'The session is confirmed', undefined, SESSION_HEADERS)
  @Errors(CONFIRM_ERRORS)
  @Errors(passkeyFailed(), flowOver(), rateLimited(60))
  async confirmStaffSession(
    @CurrentStaffBrowser() browser: StaffBrowser,
    @StrictBody() body: ConfirmSessionDto,
  ): Promise<void> {
    await this.signIn.confirm(browser, body);
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
    @CurrentStaffBrowser() browser: StaffBrowser,
    @StrictBody() body: ChangeStaffPasswordDto,
  ): Promise<StaffSessionResponse> {
    await this.signIn.changePassword(browser, {
      current: body.current_password,
      next: body.password,
      endTokens: body.end_tokens ?? false,
    });
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
    @CurrentStaffBrowser() browser: StaffBrowser,
    @StrictBody() { password }: BeginFactorDto,
  ): Promise<FactorSecretResponse> {
    await this.signIn.assertStillThere(browser, password ?? null);
    return this.factors.begin(browser.member);
  }

  @Put('factor')
  @UseGuards(StaffSessionGuard)
  @Describe(`Confirm the second factor with its first code
    Needs a session. All other sessions of the staff member end, because they began with a password alone.`)
  @Answer(200, 'Recovery codes, which are not shown again', RecoveryCodesResponse, SESSION_HEADERS)
  @Errors(invalidParameters('code should not be empty'), wrongFactorCode(), noFactor(), factorExists())
  @Errors(rateLimited(60))
  async confirmStaffFactor(
    @CurrentStaffBrowser() { member, session, origin, response }: StaffBrowser,
    @StrictBody() { code }: FactorCodeDto,
  ): Promise<RecoveryCodesResponse> {
    const codes = await this.factors.confirm(member, code, origin);
    await this.sessions.endAll(member.id, session.id);
    const renewed = await this.sessions.replaceToken(session.id, session.expiresAt);
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
    @CurrentStaffBrowser() { member, origin }: StaffBrowser,
    @StrictBody() { code }: FactorCodeDto,
  ): Promise<void> {
    await this.factors.remove(member, code, origin);
  }
}

/** On which browsers the staff member is signed in. */
// Nest runs the guards of the lower decorator first.
@StaffApi(StaffSessionGuard)
@Controller('admin/v1/sessions')
export class StaffSessionsController {
  constructor(private readonly signIn: StaffSignIn) {}

  @Get()
  @Describe(`List your sessions, the most recently used first
    Needs a session.`)
  @Answer(200, 'The sessions', [StaffSessionInfoResponse])
  async listStaffSessions(
    @CurrentStaffBrowser() { member, session }: StaffBrowser,
  ): Promise<StaffSessionInfoResponse[]> {
    const records = await this.signIn.listSessions(member);
    return records.map((one) => ({
      id: one.id,
      is_current: one.id === session.id,
      created_at: one.createdAt,
      last_used_at: one.lastUsedAt,
      expires_at: one.expiresAt,
      address: one.address,
      user_agent: one.userAgent,
    }));
  }

  @Delete(':id')
  @Describe(`End one of your sessions
    Needs a session.`)
  @Answer(204, 'The session has ended')
  @Errors(sessionNotFound())
  async endStaffSession(
    @CurrentStaffBrowser() browser: StaffBrowser,
    @Param('id') id: string,
  ): Promise<void> {
    await this.signIn.endSession(browser, id);
  }
}
