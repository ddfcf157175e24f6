/** Staff who administer the installation: accounts, sessions, tokens, roles, invitations. */
import { Global } from '@nestjs/common';
import { FolderModule } from '../infra/folder-module';
import { InvitationAcceptanceController, InvitationsController } from './http/invitations.controller';
import { SingleSignOnController, StaffSamlController } from './http/single-sign-on.controller';
import { PasskeysController, PasskeySignInController } from './http/passkeys.controller';
import { StaffMembersController } from './http/staff-members.controller';
import { SetupController, SetupLinkController } from './http/setup.controller';
import {
  StaffSessionController,
  StaffSessionsController,
  StaffSignInController,
} from './http/staff-session.controller';
import { StaffTokensController } from './http/staff-tokens.controller';
import { RouteTableCheck } from './roles/route-table-check.service';

/** Global, because StaffGuard is used by the controllers of other modules. */
@Global()
@FolderModule(__dirname, {
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
  providers: [RouteTableCheck],
})
export class StaffModule {}
