/**
 * Asks a server of the project for custom claims (`custom_access_token_hook` as an address). It is asked before the statement that
 * begins or rotates a session, which must not wait for it.
 */
import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject, parseJson } from '../../common/text/json';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import type { Statement } from '../../database/statement';
import { isAddress } from '../../projects/setting-secrets';
import type { Project } from '../../projects/project';
import { AUTHENTICATED_ROLE } from '../../projects/project-keys';
import type { AccountToInsert } from '../accounts/account';
import { HookCalls } from '../hooks/hook-calls.service';
import { claimsFailed, claimsOfAnswer, HOOK_INPUT } from './custom-claims';

/** Limit in characters of the hook's input. */
const MAX_INPUT = 256 * 1024;

const NAME = 'custom_access_token_hook';

@Injectable()
export class CustomClaimsHook {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly calls: HookCalls,
  ) {}

  /** @returns null where no address is set, or no user has the id @throws AppError 4xx, 500 */
  ofUser(project: Project, userId: string): Promise<JsonObject | null> {
    return this.ask(project, () =>
      this.read(project, {
        name: 'auth:claims-input-of-user',
        text: `select left(${HOOK_INPUT}::text, ${MAX_INPUT + 1}) as input from auth.users x where x.id = $1`,
        values: [userId],
      }),
    );
  }

  ofSession(project: Project, sessionId: string): Promise<JsonObject | null> {
    return this.ask(project, () =>
      this.read(project, {
        name: 'auth:claims-input-of-session',
        text: `select left(${HOOK_INPUT}::text, ${MAX_INPUT + 1}) as input from auth.sessions s join auth.users x on x.id = s.user_id where s.id = $1`,
        values: [sessionId],
      }),
    );
  }

  ofNew(
    project: Project,
    { id, email, phone, data, appData = {} }: AccountToInsert,
  ): Promise<JsonObject | null> {
    const claims = {
      sub: id,
      role: AUTHENTICATED_ROLE,
      aud: AUTHENTICATED_ROLE,
      email: email?.address ?? '',
      is_anonymous: email === null && phone === undefined,
      app_metadata: appData,
      user_metadata: data,
    };
    return this.ask(project, () => Promise.resolve({ user_id: id, claims }));
  }

  private async ask(project: Project, inputOf: () => Promise<JsonObject | null>): Promise<JsonObject | null> {
    const target = project.settings[NAME];
    if (!isAddress(target)) return null;
    const input = await inputOf();
    if (!input) return null;
    const answer = await this.calls.call(project, NAME, target, input).catch((error: unknown) => {
      throw claimsFailed(error);
    });
    return claimsOfAnswer(answer);
  }

  private async read(project: Project, statement: Statement): Promise<JsonObject | null> {
    const { rows } = await this.rls.systemQuery(project.database, `the setting ${NAME}`, statement);
    if (!rows[0]) return null;
    const text: unknown = rows[0].input;
    const input = typeof text === 'string' && text.length <= MAX_INPUT ? parseJson(text) : null;
    if (!isJsonObject(input)) throw claimsFailed(new Error('the user has too much metadata for the hook'));
    return input;
  }
}
