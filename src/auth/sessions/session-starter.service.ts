/** Begins a session of an account, and issues its tokens. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { ONE_FACTOR } from '../../access/caller';
import type { JsonObject } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { Sender } from '../../identity/request-origin';
import { Project } from '../../projects/project';
import type { Account } from '../accounts/account';
import { Credentials } from '../accounts/account-record';
import { byAnonymous } from '../audit/audit-entry';
import { HousekeepingService } from './housekeeping.service';
import { NoticeService } from '../mail/notice.service';
import { SessionRepository } from './session.repository';
import { NewSession, SessionGrant, SessionToIssue, SignInMethod } from './session';
import { SessionIssuer, SignedIn } from './session-issuer.service';
import { SessionTokensRepository } from './session-tokens.repository';

@Injectable()
export class SessionStarter {
  constructor(
    private readonly sessions: SessionTokensRepository,
    private readonly issuer: SessionIssuer,
    private readonly sessionRows: SessionRepository,
    private readonly notices: NoticeService,
    private readonly housekeeping: HousekeepingService,
    private readonly clock: Clock,
  ) {}

  /** @returns null if the password or the groups were changed, or the account banned or deleted, after the credentials were read */
  async start(
    { project, origin }: Sender,
    {
      account,
      passwordHash,
      newPasswordHash = null,
    }: Credentials & { readonly newPasswordHash?: string | null },
    method: SignInMethod,
    grant?: SessionGrant,
  ): Promise<SignedIn | null> {
    const isNewDevice =
      !grant &&
      project.settings.new_device_mails &&
      (await this.sessionRows.isNewDevice({ project, origin }, account.id));
    const session = this.newSession({ project, origin }, account.id, method, grant);
    const details: JsonObject = grant ? { client_id: grant.clientId } : {};
    const entry = byAnonymous('sign_in', account.id, { now: this.clock.date(), origin, details });
    const customClaims = await this.sessions.begin(
      project,
      { ...session, passwordHash, groups: groupsIn(account), newPasswordHash },
      entry,
    );
    if (!customClaims) return null;
    if (isNewDevice) await this.notices.newDevice({ project, origin }, account);
    this.housekeeping.visit(project);
    return this.issueFirst(project, { account, customClaims }, session);
  }

  newSession(
    { project, origin }: Sender,
    userId: string,
    method: SignInMethod,
    grant?: SessionGrant,
  ): Omit<NewSession, 'passwordHash' | 'groups' | 'newPasswordHash'> {
    const id = grant?.sessionId ?? randomUUID();
    return { id, userId, method, origin, expiresAt: this.issuer.sessionEnd(project), grant };
  }

  /** The first tokens of a session. */
  async issueFirst(
    project: Project,
    created: Pick<SessionToIssue, 'account' | 'customClaims'>,
    { id, method, grant }: Pick<NewSession, 'id' | 'method' | 'grant'>,
  ): Promise<SignedIn> {
    const amr = [...this.issuer.methodsOf(method), ...(grant?.amr ?? [])];
    const { aal = ONE_FACTOR, clientId } = grant ?? {};
    return this.issuer.issue(project, { ...created, sessionId: id, number: 0, aal, amr, clientId });
  }
}

function groupsIn({ appData: { groups } }: Account): string | null {
  const isList = Array.isArray(groups) && groups.every((group) => typeof group === 'string');
  return isList ? JSON.stringify(groups) : null;
}
