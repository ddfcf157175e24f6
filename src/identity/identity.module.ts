/** Services that users of projects and staff of the installation share. */
import { Global, Module } from '@nestjs/common';
import { IssuerKeys } from '../access/issuer-tokens.service';
import { Clock } from '../common/time/clock';
import { AUTH_CONFIG, AuthConfig } from '../config/app-config';
import { PasswordHasher } from '../infra/crypto/password-hasher';
import { MailModule } from '../infra/mail/mail.module';
import { OutboundHttp } from '../infra/outbound/outbound-http';
import { GuessThrottle } from './guess-throttle.service';
import { KeySets } from './oidc/key-sets';
import { LdapLogins } from './ldap/ldap-logins.service';
import { BreachedPasswords } from './passwords/breached-passwords.service';
import { SamlResponses } from './saml/saml-responses.service';
import { Passwords } from './passwords/passwords.service';

const OUTBOUND = {
  provide: OutboundHttp,
  inject: [AUTH_CONFIG],
  useFactory: ({ allowedHosts }: AuthConfig) => new OutboundHttp(allowedHosts),
};

const KEY_SETS = {
  provide: KeySets,
  inject: [OutboundHttp, Clock],
  useFactory: (http: OutboundHttp, clock: Clock) => new KeySets(http, clock),
};

const ISSUER_KEYS = { provide: IssuerKeys, useExisting: KeySets };

const SHARED = [
  GuessThrottle,
  LdapLogins,
  PasswordHasher,
  Passwords,
  SamlResponses,
  OUTBOUND,
  KEY_SETS,
  ISSUER_KEYS,
];

@Global()
@Module({
  imports: [MailModule],
  providers: [BreachedPasswords, ...SHARED],
  exports: SHARED,
})
export class IdentityModule {}
