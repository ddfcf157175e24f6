/** Accounts and sessions of a project. */
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Clock } from '../common/time/clock';
import { AUTH_CONFIG, AuthConfig } from '../config/app-config';
import { FailureLedger } from '../infra/coordination/failure-ledger';
import { RateCounter } from '../infra/coordination/rate-counter';
import { SharedThrottlerStorage } from '../infra/coordination/throttler-storage';
import { PasswordHasher } from '../infra/crypto/password-hasher';
import { MailModule } from '../infra/mail/mail.module';
import { QueueModule } from '../infra/queue/queue.module';
import { AccessTokenService } from './sessions/access-token.service';
import { AccountRepository } from './accounts/account.repository';
import { AdminUsersRepository } from './admin/admin-users.repository';
import { AdminUsersService } from './admin/admin-users.service';
import { AuditRepository } from './audit/audit.repository';
import { AuthMetrics } from './mail/auth-metrics.service';
import { EmailVerificationService } from './mail/email-verification.service';
import { FactorRepository } from './factors/factor.repository';
import { FactorService } from './factors/factor.service';
import { GuessThrottle } from './accounts/guess-throttle.service';
import { HousekeepingRepository } from './sessions/housekeeping.repository';
import { HousekeepingService } from './sessions/housekeeping.service';
import { AccountsController } from './http/accounts.controller';
import { AdminAuditController } from './http/admin-audit.controller';
import { AdminFactorsController } from './http/admin-factors.controller';
import { AdminUsersController } from './http/admin-users.controller';
import { FactorsController } from './http/factors.controller';
import { MailPagesController } from './http/mail-pages.controller';
import { UserController } from './http/user.controller';
import { InvitationService } from './admin/invitation.service';
import { AuthMailer } from './mail/auth-mailer.service';
import { FailedMailService } from './mail/failed-mail.service';
import { MailComposer } from './mail/mail-composer.service';
import { MailDelivery } from './mail/mail-delivery.service';
import { MAIL_QUEUE } from './mail/mail-queue';
import { MailProcessor } from './mail/mail.processor';
import { MailRecovery } from './mail/mail-recovery.service';
import { MailTemplateCheck } from './mail/mail-template-check.service';
import { NoticeService } from './mail/notice.service';
import { OutboxListRepository } from './mail/outbox-list.repository';
import { OutgoingMailRepository } from './mail/outgoing-mail.repository';
import { RequestedMails } from './mail/requested-mails.service';
import { SlowProjects } from './mail/slow-projects';
import { MailedTokenRepository } from './mail/mailed-token.repository';
import { PasswordCheck } from './passwords/password-check.service';
import { PasswordResetService } from './passwords/password-reset.service';
import { ProfileService } from './sessions/profile.service';
import { RefreshTokenService } from './sessions/refresh-token.service';
import { SessionIssuer } from './sessions/session-issuer.service';
import { SessionRepository } from './sessions/session.repository';
import { SessionService } from './sessions/session.service';
import { SignInService } from './sessions/sign-in.service';
import { SignUpRepository } from './sessions/sign-up.repository';
import { SignUpService } from './sessions/sign-up.service';

const MINUTE_MS = 60_000;

@Module({
  imports: [
    MailModule,
    QueueModule,
    BullModule.registerQueue({ name: MAIL_QUEUE }),
    ThrottlerModule.forRootAsync({
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
    }),
  ],
  controllers: [
    AccountsController,
    UserController,
    AdminUsersController,
    AdminFactorsController,
    AdminAuditController,
    FactorsController,
    MailPagesController,
  ],
  providers: [
    AccessTokenService,
    AccountRepository,
    AdminUsersRepository,
    AdminUsersService,
    AuditRepository,
    AuthMailer,
    AuthMetrics,
    EmailVerificationService,
    FactorRepository,
    FactorService,
    FailedMailService,
    GuessThrottle,
    HousekeepingRepository,
    HousekeepingService,
    InvitationService,
    MailComposer,
    MailDelivery,
    MailedTokenRepository,
    MailProcessor,
    MailRecovery,
    MailTemplateCheck,
    NoticeService,
    OutboxListRepository,
    OutgoingMailRepository,
    PasswordCheck,
    PasswordHasher,
    PasswordResetService,
    ProfileService,
    RefreshTokenService,
    RequestedMails,
    SessionIssuer,
    SessionRepository,
    SessionService,
    SignInService,
    SignUpRepository,
    SignUpService,
    SlowProjects,
  ],
  exports: [FailedMailService, MailTemplateCheck],
})
export class AuthModule {}
