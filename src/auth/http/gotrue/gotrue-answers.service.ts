/** Answers with a user in full: with factors, identities and the mails that wait for an answer. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/time/clock';
import { UUID } from '../../../common/text/uuid';
import type { Project } from '../../../projects/project';
import { invalidCredentials } from '../../../access/access.errors';
import { userNotFound } from '../../auth.errors';
import { AccountDetailsRepository } from '../../factors/account-details.repository';
import type { SignedIn } from '../../sessions/session-issuer.service';
import type { TokenUser } from '../current-session.decorator';
import type { GoTrueSessionResponse, GoTrueUserResponse } from './dto/gotrue-responses';
import { toGoTrueUser } from './gotrue-views';

/** Tokens with which the application reads more from the provider. */
type ProviderTokens = Pick<GoTrueSessionResponse, 'provider_token' | 'provider_refresh_token'>;

@Injectable()
export class GoTrueAnswers {
  constructor(
    private readonly details: AccountDetailsRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 404 */
  async userOf(project: Project, id: string): Promise<GoTrueUserResponse> {
    const found = UUID.test(id) ? await this.details.find(project, id) : null;
    if (!found) throw userNotFound();
    return toGoTrueUser(project, found);
  }

  /** The user of a valid token. @throws AppError 401 */
  async liveUserOf(project: Project, { userId, sessionId }: TokenUser): Promise<GoTrueUserResponse> {
    const found = await this.details.findLive(project, userId, sessionId, this.clock.date());
    if (!found) throw invalidCredentials();
    return toGoTrueUser(project, found);
  }

  /** @throws AppError 404 if the user was deleted in the meantime */
  async sessionOf(
    project: Project,
    { user, session }: SignedIn,
    tokens: ProviderTokens = {},
  ): Promise<GoTrueSessionResponse> {
    return {
      ...tokens,
      access_token: session.access_token,
      token_type: 'bearer',
      expires_in: session.expires_at - this.clock.nowSeconds(),
      expires_at: session.expires_at,
      refresh_token: session.refresh_token,
      user: await this.userOf(project, user.id),
    };
  }
}
