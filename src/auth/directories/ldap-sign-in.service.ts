/** Sign-in of users with the password of a directory (setting `ldap`). */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { wrongCredentials } from '../../identity/identity.errors';
import { type GivenLogin, LdapLogins } from '../../identity/ldap/ldap-logins.service';
import type { Sender } from '../../identity/request-origin';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import { openSettingSecret } from '../../projects/setting-secrets';
import { AccountRepository } from '../accounts/account.repository';
import { byAnonymous } from '../audit/audit-entry';
import { AuditRepository } from '../audit/audit.repository';
import { ldapDisabled } from '../auth.errors';
import { IdentitiesService } from '../providers/identities.service';
import { fromDirectory, type ProviderIdentity } from '../providers/provider-identity';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionStarter } from '../sessions/session-starter.service';

@Injectable()
export class LdapSignIn {
  constructor(
    private readonly http: OutboundHttp,
    private readonly logins: LdapLogins,
    private readonly identities: IdentitiesService,
    private readonly accounts: AccountRepository,
    private readonly starter: SessionStarter,
    private readonly audit: AuditRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 401 for a wrong login or password, 403, 404, 422, 429, 503 */
  async signIn(from: Sender, given: GivenLogin): Promise<SignedIn> {
    const identity = await this.identityOf(from, given);
    const { account } = await this.identities.accountOf(from, identity);
    const credentials = await this.accounts.findCredentialsById(from.project, account.id);
    const started = credentials && (await this.starter.start(from, credentials, 'ldap'));
    if (!started) throw wrongCredentials();
    return started;
  }

  /** The directory's identity of a user. @throws AppError 401 for a wrong login or password, 404, 429, 503 */
  async identityOf({ project, origin }: Sender, given: GivenLogin): Promise<ProviderIdentity> {
    const setting = project.settings.ldap;
    if (!setting) throw ldapDisabled();
    const bindPassword = openSettingSecret(project, 'ldap', setting);
    const directory = { scope: project, setting, bindPassword, http: this.http };
    const user = await this.logins.findUser(directory, given, origin);
    if (user) return fromDirectory('ldap', user);
    const entry = byAnonymous('sign_in_failed', null, { now: this.clock.date(), origin });
    await this.audit.write(project, entry);
    throw wrongCredentials();
  }
}
