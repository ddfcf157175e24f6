/** Signs staff in with the account that an issuer or a directory vouches for. */
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { RequestOrigin } from '../../identity/request-origin';
import { AppError } from '../../common/errors/app-error';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { StaffMemberRecord } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { StaffFactors } from '../factors/staff-factor.service';
import { anonymousActor } from '../roles/staff';
import { StaffFlows } from '../sessions/staff-flows.service';
import { StaffSessions } from '../sessions/staff-session.service';
import type { Browser } from '../sessions/browser';
import { type FactorProof, SignedInStaff, StaffSignIn } from '../sessions/staff-sign-in.service';
import { accountDisabled, factorRequired, noGroupRole, type SingleSignOnWay } from '../staff.errors';
import { flowOver } from '../../identity/identity.errors';
import { IdentityAccounts, type ProvedIdentity } from './identity-accounts.service';
import type { GivenLogin } from '../../identity/ldap/ldap-logins.service';
import type { OidcChecks } from '../../identity/oidc/oidc-client';
import { StaffLdap } from './staff-ldap.service';
import { StaffOidcClient } from './staff-oidc-client.service';
import { StaffSaml } from './staff-saml.service';

export interface LdapSignIn extends GivenLogin, FactorProof {}

@Injectable()
export class SingleSignOn {
  constructor(
    private readonly client: StaffOidcClient,
    private readonly saml: StaffSaml,
    private readonly ldap: StaffLdap,
    private readonly accounts: IdentityAccounts,
    private readonly members: StaffMemberRepository,
    private readonly factors: StaffFactors,
    private readonly flows: StaffFlows,
    private readonly sessions: StaffSessions,
    private readonly signIn: StaffSignIn,
    private readonly audit: AuditLogRepository,
  ) {}

  /** @returns the issuer's page @throws AppError 404 without single sign-on, 503 if the issuer does not answer */
  async beginOidc(response: Response): Promise<string> {
    const { url, checks } = await this.client.begin();
    this.flows.begin(response, 'oidc', checks);
    return url;
  }

  /** @returns the provider's page @throws AppError 401 for unusable metadata, 404 without SAML, 503 if there is no metadata */
  async beginSaml(response: Response): Promise<string> {
    const { url, requestId } = await this.saml.begin();
    this.flows.begin(response, 'saml', { requestId });
    return url;
  }

  /** Verifies the provider's response. @returns it sealed, for finishSaml() @throws AppError 401, 404, 429, 503 */
  receiveSaml(samlResponse: string, origin: RequestOrigin): Promise<string> {
    return this.recorded('saml', origin, () => this.saml.receive(samlResponse, origin));
  }

  /**
   * Begins a session with the issuer's answer.
   * @param query of the callback's URL, with `?`
   * @throws AppError 401, 403, 409, 503; 401 `factor_required` begins the flow that complete() ends
   */
  finishOidc(query: string, browser: Browser): Promise<void> {
    const { request, response } = browser;
    return this.recorded('oidc', browser.origin, async () => {
      const flow = this.flows.continue<OidcChecks>(request, 'oidc');
      this.flows.clear(response);
      const identity = await this.client.finish(query, flow.content);
      await this.flows.complete(flow, response);
      await this.enter(identity, browser);
    });
  }

  /** @param sealed of receiveSaml() @throws as finishOidc() */
  finishSaml(sealed: string, browser: Browser): Promise<void> {
    return this.recorded('saml', browser.origin, async () => {
      const flow = this.flows.continue<{ requestId: string }>(browser.request, 'saml');
      const identity = this.saml.finish(sealed, flow.content.requestId);
      await this.flows.complete(flow, browser.response);
      await this.enter(identity, browser);
    });
  }

  /** @throws AppError 401 for wrong credentials or a missing code, 403, 404, 409, 429, 503 */
  signInWithLdap({ login, password, ...factor }: LdapSignIn, browser: Browser): Promise<SignedInStaff> {
    const { origin } = browser;
    return this.recorded('ldap', origin, async () => {
      const member = await this.memberOf(await this.ldap.identityOf({ login, password }, origin), origin);
      if (member.hasFactor) await this.signIn.assertFactor(member, factor, browser);
      return this.signIn.enter(member, browser, { by: 'ldap' });
    });
  }

  /**
   * The second step for an account whose second factor the issuer did not ask for.
   * @throws AppError 401 for a wrong code or passkey, 429 for too many attempts
   */
  async complete(code: string, browser: Browser): Promise<SignedInStaff> {
    const { request, response, origin } = browser;
    const flow = this.flows.continue<{ memberId: string; by: SingleSignOnWay }>(request, 'oidc-factor');
    const member = await this.members.find(flow.content.memberId);
    if (!member || member.disabledAt !== null) throw flowOver();
    await this.factors.assertCode(member, code, origin);
    await this.flows.complete(flow, response);
    return this.signIn.enter(member, browser, { by: flow.content.by });
  }

  private async enter(identity: ProvedIdentity, browser: Browser): Promise<void> {
    const member = await this.memberOf(identity, browser.origin);
    if (member.hasFactor && !identity.hasSecondFactor) {
      this.flows.begin(browser.response, 'oidc-factor', { memberId: member.id, by: identity.way });
      throw factorRequired();
    }
    await this.signIn.enter(member, browser, { by: identity.way });
  }

  private async memberOf(identity: ProvedIdentity, origin: RequestOrigin): Promise<StaffMemberRecord> {
    const { member, hasRole } = await this.accounts.accountOf(identity, origin);
    if (member.disabledAt !== null) throw accountDisabled();
    if (hasRole) return member;
    await this.sessions.endAll(member.id);
    throw noGroupRole(identity.way);
  }

  private async recorded<T>(by: SingleSignOnWay, origin: RequestOrigin, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // An attempt that was refused with 429 was not made, so it is not recorded.
      if (error instanceof AppError && error.code !== factorRequired().code && error.status !== 429)
        await this.audit.write({
          actor: anonymousActor(origin.ip),
          action: 'person.sign_in_failed',
          projectId: null,
          details: { by, code: error.code },
        });
      throw error;
    }
  }
}
