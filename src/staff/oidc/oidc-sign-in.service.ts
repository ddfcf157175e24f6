/** Signs staff in with the account that the issuer vouches for. */
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { RequestOrigin } from '../../identity/request-origin';
import { AppError } from '../../common/errors/app-error';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { StaffMemberRecord } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { StaffFactors } from '../factors/staff-factor.service';
import { anonymousActor } from '../roles/staff';
import { SessionCookies } from '../sessions/session-cookies.service';
import { StaffFlows } from '../sessions/session-cookies.service';
import { StaffSessions } from '../sessions/staff-session.service';
import { SignedInStaff, StaffSignIn } from '../sessions/staff-sign-in.service';
import { accountDisabled, factorRequired, oidcNoRole } from '../staff.errors';
import { flowOver } from '../../identity/identity.errors';
import { OidcAccounts } from './oidc-accounts.service';
import type { OidcChecks } from '../../identity/oidc/oidc-client';
import { StaffOidcClient } from './staff-oidc-client.service';

const ACTION = 'person.sign_in';

@Injectable()
export class OidcSignIn {
  constructor(
    private readonly client: StaffOidcClient,
    private readonly accounts: OidcAccounts,
    private readonly members: StaffMemberRepository,
    private readonly factors: StaffFactors,
    private readonly flows: StaffFlows,
    private readonly sessions: StaffSessions,
    private readonly cookies: SessionCookies,
    private readonly signIn: StaffSignIn,
    private readonly audit: AuditLogRepository,
  ) {}

  /** @returns the issuer's page @throws AppError 404 without single sign-on, 503 */
  async begin(response: Response): Promise<string> {
    const { url, checks } = await this.client.begin();
    this.flows.begin(response, 'oidc', checks);
    return url;
  }

  /**
   * Begins a session with the issuer's answer.
   * @param query of the callback's URL, with `?`
   * @throws AppError 401, 403, 409, 503; 401 `factor_required` begins the flow that complete() ends
   */
  async finish(query: string, request: Request, response: Response, origin: RequestOrigin): Promise<void> {
    try {
      const flow = this.flows.continue<OidcChecks>(request, 'oidc');
      this.flows.clear(response);
      const identity = await this.client.finish(query, flow.content);
      await this.flows.complete(flow, response);
      const { member, hasRole } = await this.accounts.accountOf(identity, origin);
      if (member.disabledAt !== null) throw accountDisabled();
      if (!hasRole) await this.refuse(member);
      if (member.hasFactor && !identity.hasSecondFactor) {
        this.flows.begin(response, 'oidc-factor', { memberId: member.id });
        throw factorRequired();
      }
      await this.beginSession(member, request, response, origin);
    } catch (error) {
      await this.recordFailure(error, origin);
      throw error;
    }
  }

  /** The second step for an account with a second factor that the issuer did not ask for. @throws AppError 401, 429 */
  async complete(
    code: string,
    request: Request,
    response: Response,
    origin: RequestOrigin,
  ): Promise<SignedInStaff> {
    const flow = this.flows.continue<{ memberId: string }>(request, 'oidc-factor');
    const member = await this.members.find(flow.content.memberId);
    if (!member || member.disabledAt !== null) throw flowOver();
    await this.factors.assertCode(member, code, origin);
    await this.flows.complete(flow, response);
    return this.beginSession(member, request, response, origin);
  }

  private async beginSession(
    member: StaffMemberRecord,
    request: Request,
    response: Response,
    origin: RequestOrigin,
  ): Promise<SignedInStaff> {
    const presented = this.cookies.read(request);
    if (presented !== null) await this.sessions.endByToken(presented);
    const signedIn = await this.signIn.beginFor(member, ACTION, origin, { by: 'oidc' });
    this.cookies.write(response, signedIn.session);
    return signedIn;
  }

  private async refuse({ id }: StaffMemberRecord): Promise<never> {
    await this.sessions.endAll(id);
    throw oidcNoRole();
  }

  private async recordFailure(error: unknown, origin: RequestOrigin): Promise<void> {
    if (!(error instanceof AppError) || error.code === factorRequired().code) return;
    await this.audit.write({
      actor: anonymousActor(origin.ip),
      action: 'person.sign_in_failed',
      projectId: null,
      details: { by: 'oidc', code: error.code },
    });
  }
}
