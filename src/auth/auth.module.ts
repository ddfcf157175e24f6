/** Wires the folders of src/auth together. */
import { FolderModule } from '../infra/folder-module';
import { ThrottlerModule } from '@nestjs/throttler';
import { AdmissionGuard } from '../access/admission.guard';
import { Clock } from '../common/time/clock';
import { AUTH_CONFIG, AuthConfig } from '../config/app-config';
import { FailureLedger } from '../infra/coordination/failure-ledger';
import { RateCounter } from '../infra/coordination/rate-counter';
import { SharedThrottlerStorage } from '../infra/coordination/throttler-storage';
import { GoTrueAdminController } from './http/gotrue/gotrue-admin.controller';
import { GoTrueFactorsController } from './http/gotrue/gotrue-factors.controller';
import {
  GoTruePasskeysAdminController,
  GoTruePasskeysController,
  GoTruePasskeySignInController,
} from './http/gotrue/gotrue-passkeys.controller';
import { GoTrueOAuthAdminController } from './http/gotrue/gotrue-oauth-admin.controller';
import { GoTrueOAuthUserController } from './http/gotrue/gotrue-oauth-user.controller';
import {
  GoTrueOAuthController,
  GoTrueOAuthTokenController,
  GoTrueOAuthUserInfoController,
} from './http/gotrue/gotrue-oauth.controller';
import { GoTruePagesController } from './http/gotrue/gotrue-pages.controller';
import { GoTrueKeysController, GoTruePublicController } from './http/gotrue/gotrue-keys.controller';
import { GoTrueProvidersController } from './http/gotrue/gotrue-providers.controller';
import { GoTrueSamlController } from './http/gotrue/gotrue-saml.controller';
import { GoTrueCodesController } from './http/gotrue/gotrue-codes.controller';
import { GoTrueSignInController } from './http/gotrue/gotrue-sign-in.controller';
import { GoTrueSsoAdminController, GoTrueSsoController } from './http/gotrue/gotrue-sso.controller';
import { GoTrueUserController } from './http/gotrue/gotrue-user.controller';
import { AccountsController } from './http/accounts.controller';
import { AdminAuditController } from './http/admin-audit.controller';
import { AdminMailsController } from './http/admin-mails.controller';
import { AdminProvidersController } from './http/admin-providers.controller';
import { AdminUsersController } from './http/admin-users.controller';
import { FailedMailsController } from './http/failed-mails.controller';
import { FactorsController } from './http/factors.controller';
import { MailPagesController } from './http/mail-pages.controller';
import { ViewTokensController } from './http/view-tokens.controller';
import { UserController } from './http/user.controller';
import { UserImportsController } from './http/user-imports.controller';
import { MailSweep } from './mail/mail-sweep.service';
import { MailProcessor } from './mail/mail.processor';
import { PasswordMetrics } from './passwords/password-metrics.service';
import { MailPageContexts } from './http/mail-page-contexts';
import { SlowProjects } from './mail/slow-projects';

const MINUTE_MS = 60_000;

const THROTTLER = ThrottlerModule.forRootAsync({
  inject: [AUTH_CONFIG, RateCounter, FailureLedger, Clock],
  useFactory: (
    { requestsPerMinute }: AuthConfig,
    counter: RateCounter,
    ledger: FailureLedger,
    clock: Clock,
  ) => ({
    throttlers: [{ ttl: MINUTE_MS, limit: requestsPerMinute }],
    storage: new SharedThrottlerStorage(counter, ledger, clock),
  }),
});

const GOTRUE = [
  GoTrueKeysController,
  GoTruePublicController,
  GoTrueProvidersController,
  GoTrueSamlController,
  GoTrueSignInController,
  GoTrueCodesController,
  GoTrueSsoAdminController,
  GoTrueSsoController,
  GoTruePasskeySignInController,
  GoTruePasskeysController,
  GoTruePasskeysAdminController,
  GoTrueUserController,
  GoTrueFactorsController,
  GoTrueAdminController,
  GoTrueOAuthAdminController,
  GoTrueOAuthUserController,
  GoTrueOAuthController,
  GoTrueOAuthTokenController,
  GoTrueOAuthUserInfoController,
];

@FolderModule(__dirname, {
  imports: [THROTTLER],
  controllers: [
    AccountsController,
    UserController,
    AdminUsersController,
    UserImportsController,
    AdminProvidersController,
    AdminAuditController,
    AdminMailsController,
    FailedMailsController,
    ViewTokensController,
    FactorsController,
    MailPagesController,
    ...GOTRUE,
    GoTruePagesController,
  ],
  providers: [SlowProjects, MailPageContexts, AdmissionGuard, MailProcessor, MailSweep, PasswordMetrics],
})
export class AuthModule {}
