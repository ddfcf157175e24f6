/** People who administer the installation: accounts, sessions, tokens, roles, invitations. */
import { Global, Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { PeopleRepository } from './accounts/people.repository';
import { PeopleService } from './accounts/people.service';
import { StaffPasswords } from './accounts/staff-password.service';
import { StaffFactorRepository } from './factors/staff-factor.repository';
import { StaffFactors } from './factors/staff-factor.service';
import { InvitationAcceptanceController, InvitationsController } from './http/invitations.controller';
import { PeopleController } from './http/people.controller';
import { SetupController, SetupLinkController } from './http/setup.controller';
import { StaffSessionController, StaffSignInController } from './http/staff-session.controller';
import { StaffTokensController } from './http/staff-tokens.controller';
import { ViewTokensController } from './http/view-tokens.controller';
import { InvitationRepository } from './invitations/invitation.repository';
import { InvitationService } from './invitations/invitation.service';
import { RouteTableCheck } from './roles/route-table-check.service';
import { SessionCookies } from './sessions/session-cookies.service';
import { StaffSessionRepository } from './sessions/staff-session.repository';
import { StaffSessions } from './sessions/staff-session.service';
import { StaffSignIn } from './sessions/staff-sign-in.service';
import { SetupRepository } from './setup/setup.repository';
import { SetupService } from './setup/setup.service';
import { StaffTokenRepository } from './tokens/staff-token.repository';
import { StaffTokens } from './tokens/staff-token.service';
import { ViewTokens } from './views/view-token.service';

/** Global, because StaffGuard is used by the controllers of other modules. */
@Global()
@Module({
  imports: [AuthModule],
  controllers: [
    StaffSignInController,
    StaffSessionController,
    SetupController,
    SetupLinkController,
    PeopleController,
    InvitationAcceptanceController,
    InvitationsController,
    StaffTokensController,
    ViewTokensController,
  ],
  providers: [
    InvitationRepository,
    InvitationService,
    PeopleRepository,
    PeopleService,
    RouteTableCheck,
    SessionCookies,
    SetupRepository,
    SetupService,
    StaffFactorRepository,
    StaffFactors,
    StaffPasswords,
    StaffSessionRepository,
    StaffSessions,
    StaffSignIn,
    StaffTokenRepository,
    StaffTokens,
    ViewTokens,
  ],
  exports: [SessionCookies, StaffSessions, StaffTokens],
})
export class StaffModule {}
