/** Wires the rooms of src/auth together. */
import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { AdmissionGuard } from '../access/admission.guard';
import { Clock } from '../common/time/clock';
import { AUTH_CONFIG, AuthConfig } from '../config/app-config';
import { FailureLedger } from '../infra/coordination/failure-ledger';
import { RateCounter } from '../infra/coordination/rate-counter';
import { SharedThrottlerStorage } from '../infra/coordination/throttler-storage';
import { GeneratedLinks } from './admin/generated-links.service';
import { CodeExchange } from './codes/code-exchange.service';
import { ExchangeCodeRepository } from './codes/exchange-code.repository';
import { MagicLinkService } from './codes/magic-link.service';
import { MailedSignInService } from './codes/mailed-sign-in.service';
import { ReauthenticationService } from './codes/reauthentication.service';
import { AccountDetailsRepository } from './factors/account-details.repository';
import { GoTrueAdminController } from './http/gotrue/gotrue-admin.controller';
import { GoTrueFactorsController } from './http/gotrue/gotrue-factors.controller';
import {
  GoTruePasskeysAdminController,
  GoTruePasskeysController,
  GoTruePasskeySignInController,
} from './http/gotrue/gotrue-passkeys.controller';
import { GoTruePagesController } from './http/gotrue/gotrue-pages.controller';
import { GoTrueKeysController } from './http/gotrue/gotrue-keys.controller';
import { GoTrueProvidersController } from './http/gotrue/gotrue-providers.controller';
import { GoTruePublicController } from './http/gotrue/gotrue-public.controller';
import { GoTrueSamlController } from './http/gotrue/gotrue-saml.controller';
import { GoTrueSignInController } from './http/gotrue/gotrue-sign-in.controller';
import { GoTrueSignInService } from './http/gotrue/gotrue-sign-in.service';
import { GoTrueSsoAdminController, GoTrueSsoController } from './http/gotrue/gotrue-sso.controller';
import { GoTrueUserController } from './http/gotrue/gotrue-user.controller';
import { PublicProjects } from './http/gotrue/public-project.service';
import { MailPageContexts } from './http/mail-page-contexts';
import { AccountRepository } from './accounts/account.repository';
import { AdminFactorsRepository } from './admin/admin-factors.repository';
import { AdminSessionsRepository } from './admin/admin-sessions.repository';
import { AdminFactorsService } from './admin/admin-factors.service';
import { AdminUsersRepository } from './admin/admin-users.repository';
import { AdminUsersService } from './admin/admin-users.service';
import { UserImportRepository } from './admin/user-import.repository';
import { UserImport } from './admin/user-import.service';
import { UserListRepository } from './admin/user-list.repository';
import { AuditRepository } from './audit/audit.repository';
import { FactorRepository } from './factors/factor.repository';
import { FactorService } from './factors/factor.service';
import { PhoneCodeRepository } from './phones/phone-code.repository';
import { PhoneCodes } from './phones/phone-codes.service';
import { PhoneFactors } from './phones/phone-factors.service';
import { PhoneSignIn } from './phones/phone-sign-in.service';
import { SecurityKeys } from './factors/security-keys.service';
import { SessionRaiseRepository } from './factors/session-raise.repository';
import { AccountsController } from './http/accounts.controller';
import { AdminAuditController } from './http/admin-audit.controller';
import { AdminMailsController } from './http/admin-mails.controller';
import { AdminFactorsController } from './http/admin-factors.controller';
import { AdminProvidersController } from './http/admin-providers.controller';
import { AdminSessionsController } from './http/admin-sessions.controller';
import { AdminUsersController } from './http/admin-users.controller';
import { FailedMailsController } from './http/failed-mails.controller';
import { FactorsController } from './http/factors.controller';
import { MailPagesController } from './http/mail-pages.controller';
import { ViewTokensController } from './http/view-tokens.controller';
import { UserController } from './http/user.controller';
import { UserImportsController } from './http/user-imports.controller';
import { AuthMailer } from './mail/auth-mailer.service';
import { EmailChangeService } from './mail/email-change.service';
import { EmailVerificationService } from './mail/email-verification.service';
import { FailedMailService } from './mail/failed-mail.service';
import { MailComposer } from './mail/mail-composer.service';
import { TestMailService } from './mail/test-mail.service';
import { MailDelivery } from './mail/mail-delivery.service';
import { MailMetrics } from './mail/mail-metrics.service';
import { MailSweep } from './mail/mail-sweep.service';
import { MailSealer } from './mail/mail-sealer.service';
import { MailTemplateCheck } from './mail/mail-template-check.service';
import { MailProcessor } from './mail/mail.processor';
import { MailedTokenRepository } from './mail/mailed-token.repository';
import { NewAccountMailer } from './mail/new-account-mailer.service';
import { NoticeService } from './mail/notice.service';
import { OutboxListRepository } from './mail/outbox-list.repository';
import { OutgoingMailRepository } from './mail/outgoing-mail.repository';
import { RequestedMails } from './mail/requested-mails.service';
import { SlowProjects } from './mail/slow-projects';
import { PasskeyRepository } from './passkeys/passkey.repository';
import { UserPasskeys } from './passkeys/user-passkeys.service';
import { PasswordChangeService } from './passwords/password-change.service';
import { PasswordMetrics } from './passwords/password-metrics.service';
import { PasswordResetService } from './passwords/password-reset.service';
import { PasswordRepository } from './passwords/password.repository';
import { HookCalls } from './hooks/hook-calls.service';
import { LdapSignIn } from './directories/ldap-sign-in.service';
import { SamlProviderRepository } from './directories/saml-provider.repository';
import { SamlProviders } from './directories/saml-providers.service';
import { SamlSignIn } from './directories/saml-sign-in.service';
import { Hooks } from './hooks/hooks.service';
import { IdentitiesService } from './providers/identities.service';
import { IdentityRepository } from './providers/identity.repository';
import { ProviderClients } from './providers/provider-clients.service';
import { ProviderRepository } from './providers/provider.repository';
import { ProviderSignIn } from './providers/provider-sign-in.service';
import { ProvidersService } from './providers/providers.service';
import { CustomClaimsHook } from './sessions/custom-claims-hook.service';
import { AccessTokenService } from './sessions/access-token.service';
import { HousekeepingRepository } from './sessions/housekeeping.repository';
import { HousekeepingService } from './sessions/housekeeping.service';
import { ProfileService } from './sessions/profile.service';
import { RefreshTokenService } from './sessions/refresh-token.service';
import { SessionIssuer } from './sessions/session-issuer.service';
import { SessionTokensRepository } from './sessions/session-tokens.repository';
import { SessionRepository } from './sessions/session.repository';
import { SessionService } from './sessions/session.service';
import { SessionStarter } from './sessions/session-starter.service';
import { SignInService } from './sessions/sign-in.service';
import { SignUpService } from './sessions/sign-up.service';
import { ViewTokens } from './views/view-token.service';

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

const ACCOUNTS = [AccountDetailsRepository, AccountRepository, AuditRepository];

const HOOKS = [CustomClaimsHook, HookCalls, Hooks];

const MAIL = [
  AuthMailer,
  EmailChangeService,
  EmailVerificationService,
  FailedMailService,
  MailComposer,
  TestMailService,
  MailDelivery,
  MailedTokenRepository,
  MailMetrics,
  MailProcessor,
  MailSweep,
  MailSealer,
  MailTemplateCheck,
  NewAccountMailer,
  NoticeService,
  OutboxListRepository,
  OutgoingMailRepository,
  RequestedMails,
  SlowProjects,
];

const PASSWORDS = [PasswordChangeService, PasswordMetrics, PasswordRepository, PasswordResetService];

const SESSIONS = [
  AccessTokenService,
  HousekeepingRepository,
  HousekeepingService,
  ProfileService,
  RefreshTokenService,
  SessionIssuer,
  SessionRepository,
  SessionService,
  SessionStarter,
  SessionTokensRepository,
  SignInService,
  SignUpService,
];

const CODES = [
  CodeExchange,
  ExchangeCodeRepository,
  MagicLinkService,
  MailedSignInService,
  ReauthenticationService,
];

const PROVIDERS = [
  IdentitiesService,
  IdentityRepository,
  ProviderClients,
  ProviderRepository,
  ProviderSignIn,
  ProvidersService,
];

const DIRECTORIES = [LdapSignIn, SamlProviderRepository, SamlProviders, SamlSignIn];

const PASSKEYS = [PasskeyRepository, UserPasskeys];

const FACTORS = [FactorRepository, FactorService, SecurityKeys, SessionRaiseRepository];
const PHONES = [PhoneCodeRepository, PhoneCodes, PhoneFactors, PhoneSignIn];

const ADMIN = [
  AdminFactorsRepository,
  AdminFactorsService,
  AdminSessionsRepository,
  AdminUsersRepository,
  AdminUsersService,
  GeneratedLinks,
  UserImport,
  UserImportRepository,
  UserListRepository,
];

const GOTRUE = [
  GoTrueKeysController,
  GoTruePublicController,
  GoTrueProvidersController,
  GoTrueSamlController,
  GoTrueSignInController,
  GoTrueSsoAdminController,
  GoTrueSsoController,
  GoTruePasskeySignInController,
  GoTruePasskeysController,
  GoTruePasskeysAdminController,
  GoTrueUserController,
  GoTrueFactorsController,
  GoTrueAdminController,
];

@Module({
  imports: [THROTTLER],
  controllers: [
    AccountsController,
    UserController,
    AdminUsersController,
    UserImportsController,
    AdminFactorsController,
    AdminProvidersController,
    AdminSessionsController,
    AdminAuditController,
    AdminMailsController,
    FailedMailsController,
    ViewTokensController,
    FactorsController,
    MailPagesController,
    ...GOTRUE,
    GoTruePagesController,
  ],
  providers: [
    AdmissionGuard,
    ...ACCOUNTS,
    ...HOOKS,
    ...MAIL,
    ...PASSWORDS,
    ...SESSIONS,
    ...CODES,
    ...PROVIDERS,
    ...DIRECTORIES,
    ...PASSKEYS,
    ...FACTORS,
    ...PHONES,
    ...ADMIN,
    GoTrueSignInService,
    PublicProjects,
    MailPageContexts,
    ViewTokens,
  ],
  exports: [
    AccountRepository,
    AdminUsersRepository,
    AdminUsersService,
    MailTemplateCheck,
    UserListRepository,
  ],
})
export class AuthModule {}
