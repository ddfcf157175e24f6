/** Endpoints for users who are not signed in: they need the apikey only (SPEC.md 4.2, DECISIONS.md 4). */
import { Body, Controller, HttpCode, Post, UseGuards, UseInterceptors } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import type { Project } from '../../projects/project';
import { EmailVerificationService } from '../mail/email-verification.service';
import { PasswordResetService } from '../passwords/password-reset.service';
import type { RequestOrigin } from '../audit/request-origin';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionService } from '../sessions/session.service';
import { SignInService } from '../sessions/sign-in.service';
import { type SignedUp, SignUpService } from '../sessions/sign-up.service';
import { ApiAuthErrors } from './auth-responses.decorator';
import { AuthThrottlerGuard } from './auth-throttler.guard';
import { CurrentOrigin } from './current-origin.decorator';
import { EmailDto, RefreshDto, SignInDto, SignUpDto, TokenDto, UpdatePasswordDto } from './dto/account.dto';
import { MessageDto, SignedInDto, SignedUpDto } from './dto/auth-answers.dto';

@ApiTags('auth')
@ApiSecurity('apikey')
@ApiParam({ name: 'project_id', type: String })
@ApiAuthErrors(400, 401, 429, 500)
@Controller('v1/auth/:project_id')
@UseGuards(ApiKeyGuard, AuthThrottlerGuard)
@UseInterceptors(JsonBodyInterceptor)
export class AccountsController {
  constructor(
    private readonly signUps: SignUpService,
    private readonly signIns: SignInService,
    private readonly sessions: SessionService,
    private readonly resets: PasswordResetService,
    private readonly verification: EmailVerificationService,
  ) {}

  @Post('signup')
  @ApiOperation({ operationId: 'signUp', summary: 'Sign up' })
  @ApiResponse({ status: 201, description: 'The user and a session', type: SignedUpDto })
  @ApiAuthErrors(403)
  signUp(
    @CurrentProject() project: Project,
    @Body() { email, password, name }: SignUpDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<SignedUp> {
    return this.signUps.signUp(project, { email, password, name }, origin);
  }

  // GuessThrottle slows down guesses. A request limit would refuse an office whose users all sign in at nine.
  @Post('login')
  @SkipThrottle()
  @HttpCode(200)
  @ApiOperation({ operationId: 'signIn', summary: 'Sign in' })
  @ApiResponse({ status: 200, description: 'The user and a session', type: SignedInDto })
  @ApiAuthErrors(403)
  signIn(
    @CurrentProject() project: Project,
    @Body() { email, password }: SignInDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<SignedIn> {
    return this.signIns.signIn(project, { email, password }, origin);
  }

  @Post('refresh')
  @SkipThrottle()
  @HttpCode(200)
  @ApiOperation({ operationId: 'refresh', summary: 'Spend a refresh token for a new session' })
  @ApiResponse({ status: 200, description: 'The user and the session with new tokens', type: SignedInDto })
  refresh(
    @CurrentProject() project: Project,
    @Body() body: RefreshDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<SignedIn> {
    return this.sessions.refresh(project, body.refresh_token, origin);
  }

  @Post('reset-password')
  @HttpCode(200)
  @ApiOperation({ operationId: 'resetPassword', summary: 'Mail a token for a new password' })
  @ApiResponse({ status: 200, description: 'The same for known and unknown addresses', type: MessageDto })
  async resetPassword(
    @CurrentProject() project: Project,
    @Body() { email }: EmailDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.resets.request(project, email, origin);
    return { message: 'If an account with this email exists, a mail with a reset link is on its way' };
  }

  @Post('update-password')
  @HttpCode(200)
  @ApiOperation({ operationId: 'updatePassword', summary: 'Set a new password with a mailed token' })
  @ApiResponse({ status: 200, description: 'All sessions of the user have been ended', type: MessageDto })
  async updatePassword(
    @CurrentProject() project: Project,
    @Body() { token, password }: UpdatePasswordDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.resets.update(project, { token, password }, origin);
    return { message: 'The password has been updated' };
  }

  @Post('verify-email')
  @HttpCode(200)
  @ApiOperation({ operationId: 'verifyEmail', summary: 'Confirm an address with a mailed token' })
  @ApiResponse({ status: 200, description: 'The address is confirmed', type: MessageDto })
  async verifyEmail(
    @CurrentProject() project: Project,
    @Body() { token }: TokenDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.verification.confirm(project, token, origin);
    return { message: 'The email address has been confirmed' };
  }

  @Post('resend-verification')
  @HttpCode(200)
  @ApiOperation({ operationId: 'resendVerification', summary: 'Mail a token that confirms the address' })
  @ApiResponse({ status: 200, description: 'The same for known and unknown addresses', type: MessageDto })
  async resendVerification(
    @CurrentProject() project: Project,
    @Body() { email }: EmailDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.verification.resend(project, email, origin);
    return { message: 'If the address waits to be confirmed, a mail with a link is on its way' };
  }
}
