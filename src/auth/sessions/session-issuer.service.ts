/** Makes the `session` of an answer: access token, its expiry, refresh token. */
import { Injectable } from '@nestjs/common';
import { AssuranceLevel } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { JsonObject } from '../../common/text/json';
import { Project } from '../../projects/project';
import { AccessTokenService } from './access-token.service';
import { Account, toUserView, UserView } from '../accounts/account';
import { RefreshTokenService } from './refresh-token.service';

export interface SessionView {
  readonly access_token: string;
  /** Unix seconds. */
  readonly expires_at: number;
  readonly refresh_token: string;
}

export interface SignedIn {
  readonly user: UserView;
  readonly session: SessionView;
}

export interface SessionToIssue {
  readonly account: Account;
  readonly sessionId: string;
  /** Of the refresh token. */
  readonly number: number;
  readonly aal: AssuranceLevel;
  readonly customClaims: JsonObject;
}

@Injectable()
export class SessionIssuer {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly refreshTokens: RefreshTokenService,
    private readonly clock: Clock,
  ) {}

  issue(project: Project, { account, sessionId, number, aal, customClaims }: SessionToIssue): SignedIn {
    const issuedAt = this.clock.nowSeconds();
    const expiresAt = issuedAt + project.settings.access_token_lifetime;
    const subject = { userId: account.id, email: account.email, sessionId, aal, customClaims };
    return {
      user: toUserView(account),
      session: {
        access_token: this.accessTokens.issue(project, subject, issuedAt, expiresAt),
        expires_at: expiresAt,
        refresh_token: this.refreshTokens.issue(project.id, { sessionId, number }),
      },
    };
  }

  /** When a session that begins or is refreshed now ends, unless it is refreshed again. */
  sessionEnd(project: Project): Date {
    return new Date(this.clock.now() + project.settings.refresh_token_lifetime * 1_000);
  }
}
