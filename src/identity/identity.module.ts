/** What users of projects and staff of the installation share. */
import { Global, Module } from '@nestjs/common';
import { PasswordHasher } from '../infra/crypto/password-hasher';
import { MailModule } from '../infra/mail/mail.module';
import { GuessThrottle } from './guess-throttle.service';
import { Passwords } from './passwords/passwords.service';

@Global()
@Module({
  imports: [MailModule],
  providers: [GuessThrottle, PasswordHasher, Passwords],
  exports: [GuessThrottle, PasswordHasher, Passwords],
})
export class IdentityModule {}
