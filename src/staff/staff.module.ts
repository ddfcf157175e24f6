/** Staff who administer the installation: accounts, sessions, tokens, roles, invitations. */
import { Global, Module } from '@nestjs/common';
import { StaffMemberRepository } from './accounts/staff-member.repository';
import { StaffMemberService } from './accounts/staff-member.service';
import { StaffPasswords } from './accounts/staff-password.service';
import { StaffFactorRepository } from './factors/staff-factor.repository';
import { StaffFactors } from './factors/staff-factor.service';
import { InvitationAcceptanceController, InvitationsController } from './http/invitations.controller';
import { SingleSignOnController, StaffSamlController } from './http/single-sign-on.controller';
import { PasskeysController, PasskeySignInController } from './http/passkeys.controller';
import { StaffMembersController } from './http/staff-members.controller';
import { SetupController, SetupLinkController } from './http/setup.controller';
import { StaffSessionController, StaffSignInController } from './http/staff-session.controller';
import { StaffRecheck } from './http/staff-recheck.service';
import { StaffSessionsController } from './http/staff-sessions.controller';
import { StaffTokensController } from './http/staff-tokens.controller';
import { InvitationRepository } from './invitations/invitation.repository';
import { InvitationService } from './invitations/invitation.service';
import { IdentityAccounts } from './single-sign-on/identity-accounts.service';
import { StaffLdap } from './single-sign-on/staff-ldap.service';
import { StaffOidcClient } from './single-sign-on/staff-oidc-client.service';
import { StaffSaml } from './single-sign-on/staff-saml.service';
import { StaffIdentityRepository } from './single-sign-on/staff-identity.repository';
import { SingleSignOn } from './single-sign-on/single-sign-on.service';
import { PasskeyRepository } from './passkeys/passkey.repository';
import { Passkeys } from './passkeys/passkey.service';
import { RouteTableCheck } from './roles/route-table-check.service';
import { SessionCookies, StaffFlows } from './sessions/session-cookies.service';
import { SessionResponses } from './http/session-responses.service';
import { StaffSessionRepository } from './sessions/staff-session.repository';
import { StaffSessions } from './sessions/staff-session.service';
import { StaffSignIn } from './sessions/staff-sign-in.service';
import { UsedFlowRepository } from './sessions/used-flow.repository';
import { SetupRepository } from './setup/setup.repository';
import { SetupService } from './setup/setup.service';
import { StaffTokenRepository } from './tokens/staff-token.repository';
import { StaffTokens } from './tokens/staff-token.service';

/** Global, because StaffGuard is used by the controllers of other modules. */
@Global()
@Module({
  controllers: [
    SingleSignOnController,
    StaffSamlController,
    PasskeySignInController,
    PasskeysController,
    StaffSignInController,
    StaffSessionController,
    StaffSessionsController,
    SetupController,
    SetupLinkController,
    StaffMembersController,
    InvitationAcceptanceController,
    InvitationsController,
    StaffTokensController,
  ],
  providers: [
    InvitationRepository,
    InvitationService,
    IdentityAccounts,
    StaffLdap,
    StaffOidcClient,
    StaffSaml,
    StaffIdentityRepository,
    SingleSignOn,
    PasskeyRepository,
    Passkeys,
    StaffMemberRepository,
    StaffMemberService,
    RouteTableCheck,
    SessionCookies,
    SessionResponses,
    SetupRepository,
    SetupService,
    StaffFlows,
    StaffFactorRepository,
    StaffFactors,
    StaffPasswords,
    StaffRecheck,
    StaffSessionRepository,
    StaffSessions,
    StaffSignIn,
    StaffTokenRepository,
    StaffTokens,
    UsedFlowRepository,
  ],
  exports: [SessionCookies, StaffMemberRepository, StaffRecheck, StaffSessions, StaffTokens],
})
export class StaffModule {}
