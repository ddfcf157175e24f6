/** Issues the tokens of a session: `user` and `session` of an answer. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { toUserView, UserView } from '../accounts/account';
import { AccessTokenService } from './access-token.service';
import { RefreshTokenService } from './refresh-token.service';
import { MethodReference, SessionToIssue, SignInMethod } from './session';

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

@Injectable()
export class SessionIssuer {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly refreshTokens: RefreshTokenService,
    private readonly clock: Clock,
  ) {}

  async issue(
    project: Project,
    { account, sessionId, number, aal, amr, customClaims, clientId = null }: SessionToIssue,
  ): Promise<SignedIn> {
    const issuedAt = this.clock.nowSeconds();
    const expiresAt = issuedAt + project.settings.access_token_lifetime;
    const subject = { account, sessionId, aal, amr, customClaims, clientId };
    return {
      user: toUserView(account),
      session: {
        access_token: await this.accessTokens.issue(project, subject, issuedAt, expiresAt),
        expires_at: expiresAt,
        refresh_token: this.refreshTokens.issue(project, { sessionId, number }),
      },
    };
  }

  /** The `amr` entries of a session that begins now. */
  methodsOf(method: SignInMethod): MethodReference[] {
    return [{ method, timestamp: this.clock.nowSeconds() }];
  }

  /** The end of a session that begins or is refreshed now. */
  sessionEnd(project: Project): Date {
    return new Date(this.clock.now() + project.settings.refresh_token_lifetime * 1_000);
  }
}
