/** Sign-in with the password of a directory (setting `ldap`), with the throttles of passwords. */
import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { isDomainAllowed, parseEmailAddress } from '../../identity/email-address';
import { type Guess, GuessThrottle } from '../../identity/guess-throttle.service';
import { wrongCredentials } from '../../identity/identity.errors';
import { type LdapUser, type PasswordAttempt, signInAt } from '../../identity/ldap/ldap-directory';
import type { RequestOrigin } from '../../identity/request-origin';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import { openSettingSecret } from '../../projects/setting-secrets';
import type { Project } from '../../projects/project';
import type { LdapSetting } from '../../projects/settings/ldap.setting';
import { AccountRepository } from '../accounts/account.repository';
import { byAnonymous } from '../audit/audit-entry';
import { AuditRepository } from '../audit/audit.repository';
import { claimsTooLarge, directoryFailed, ldapDisabled } from '../auth.errors';
import { IdentitiesService } from '../providers/identities.service';
import { type ProviderIdentity, toProviderIdentity } from '../providers/provider-identity';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionStarter } from '../sessions/session-starter.service';
import { type AttributeMapping, mapAttributes, MAX_CUSTOM_CLAIMS, parseMapping } from './attribute-mapping';

const DEFAULT_FILTER = '(|(uid={login})(mail={login})(sAMAccountName={login})(userPrincipalName={login}))';
const USUAL = { email: ['mail', 'userPrincipalName'], name: ['displayName', 'cn'] };

@Injectable()
export class LdapSignIn {
  private readonly logger = new Logger(LdapSignIn.name);

  constructor(
    private readonly http: OutboundHttp,
    private readonly identities: IdentitiesService,
    private readonly accounts: AccountRepository,
    private readonly starter: SessionStarter,
    private readonly throttle: GuessThrottle,
    private readonly audit: AuditRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 401 for a wrong login or password, 403, 404, 422, 429, 503 */
  async signIn(
    project: Project,
    given: { login: string; password: string },
    origin: RequestOrigin,
  ): Promise<SignedIn> {
    const setting = project.settings.ldap;
    if (!setting) throw ldapDisabled();
    const mapping = parseMapping(setting.attribute_mapping ?? { keys: {} }) ?? { keys: {} };
    const guessOn = (account: string): Guess => ({
      project,
      account: `ldap:${account.toLowerCase()}`,
      origin,
    });
    // A directory finds an entry by many logins: other spaces, marks and attributes. So its guesses are counted, too.
    const attempt: PasswordAttempt = (dn, work) => this.throttle.attemptOn(guessOn(`dn:${dn}`), work);
    const user = await this.throttle.attempt(guessOn(given.login), () =>
      this.ask(project, setting, mapping, given, attempt),
    );
    if (!user) {
      const entry = byAnonymous('sign_in_failed', null, { now: new Date(this.clock.now()), origin });
      await this.audit.write(project, { ...entry, actorId: null });
      throw wrongCredentials();
    }
    const { account } = await this.identities.accountOf(project, identityOf(setting, mapping, user), origin);
    const credentials = await this.accounts.findCredentialsById(project, account.id);
    const started = credentials && (await this.starter.start(project, credentials, 'ldap', origin));
    if (!started) throw wrongCredentials();
    return started;
  }

  /** The reason of a failure goes to the log only. */
  private ask(
    project: Project,
    setting: LdapSetting,
    mapping: AttributeMapping,
    given: { login: string; password: string },
    attempt: PasswordAttempt,
  ): Promise<LdapUser | null> {
    const mapped = Object.values(mapping.keys).flatMap(({ name, names = [] }) => [
      ...(name ? [name] : []),
      ...names,
    ]);
    const directory = {
      url: setting.url,
      ca: setting.ca ?? null,
      bindDn: setting.bind_dn,
      bindPassword: openSettingSecret(project, 'ldap', setting),
      baseDn: setting.base_dn,
      userFilter: setting.user_filter ?? DEFAULT_FILTER,
      idAttribute: setting.id_attribute ?? 'entryUUID',
      attributes: [...new Set([...USUAL.email, ...USUAL.name, ...mapped])],
      groupFilter: setting.group_filter ?? null,
      groupBaseDn: setting.group_base_dn ?? setting.base_dn,
      groupAttribute: setting.group_attribute ?? 'cn',
    };
    return signInAt(this.http, directory, given, attempt).catch((error: unknown) => {
      if (error instanceof AppError) throw error;
      this.logger.warn(`The directory of project ${project.slug} failed: ${messageOf(error)}`);
      throw directoryFailed(error);
    });
  }
}

/** The directory proves addresses of its domains: an administrator has assigned them to it. */
function identityOf(
  { base_dn: baseDn, domains = [] }: LdapSetting,
  mapping: AttributeMapping,
  { id, attributes }: LdapUser,
): ProviderIdentity {
  const keys = {
    ...(attributes.has('groups') ? { groups: { name: 'groups', array: true } } : {}),
    ...mapping.keys,
  };
  const { personal, custom } = mapAttributes(attributes, { keys }, USUAL);
  const email = typeof personal.email === 'string' ? parseEmailAddress(personal.email) : null;
  const isProved = email !== null && domains.length > 0 && isDomainAllowed(email, domains);
  if (Buffer.byteLength(JSON.stringify(custom)) > MAX_CUSTOM_CLAIMS) throw claimsTooLarge(MAX_CUSTOM_CLAIMS);
  const claims = { ...personal, email: email?.address ?? null, email_verified: isProved };
  // Another server for the same tree has the same users.
  const identity = toProviderIdentity('ldap', { ...claims, iss: baseDn.toLowerCase(), sub: id });
  return { ...identity, customClaims: custom };
}
