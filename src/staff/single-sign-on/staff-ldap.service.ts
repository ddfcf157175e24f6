/** The LDAP directory that STAFF_SIGN_IN names. */
import { Inject, Injectable } from '@nestjs/common';
import { STAFF_CONFIG, StaffConfig } from '../../config/app-config';
import { toDirectoryIdentity } from '../../identity/oidc/issued-identity';
import { wrongCredentials } from '../../identity/identity.errors';
import { type GivenLogin, LdapLogins } from '../../identity/ldap/ldap-logins.service';
import type { RequestOrigin } from '../../identity/request-origin';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import { STAFF_GUESSES } from '../accounts/staff-member';
import { wayUnused } from '../staff.errors';
import type { ProvedIdentity } from './identity-accounts.service';

@Injectable()
export class StaffLdap {
  private readonly http: OutboundHttp;
  /** The host for the sign-in page; null without LDAP. */
  readonly host: string | null;

  constructor(
    private readonly logins: LdapLogins,
    @Inject(STAFF_CONFIG) private readonly config: StaffConfig,
  ) {
    const url = config.ldap && new URL(config.ldap.setting.url);
    this.host = url && url.hostname;
    this.http = url ? OutboundHttp.toHostOf(url) : new OutboundHttp([]);
  }

  /**
   * @throws AppError 401 for a wrong login or password, 404 without LDAP, 429 for too many attempts, 503 if
   * the directory does not answer
   */
  async identityOf(given: GivenLogin, origin: RequestOrigin): Promise<ProvedIdentity> {
    if (!this.config.ldap) throw wayUnused('ldap');
    const { setting, bindPassword, roles } = this.config.ldap;
    const directory = { scope: STAFF_GUESSES, setting, bindPassword, http: this.http };
    const user = await this.logins.findUser(directory, given, origin);
    if (!user) throw wrongCredentials();
    return { ...toDirectoryIdentity('ldap', user), way: 'ldap', roles };
  }
}
