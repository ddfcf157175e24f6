/**
 * Calls the hooks of a project during a sign-in (settings `..._hook`): functions of its database, or addresses. The answer is a
 * stranger's input. A hook that fails, or takes too long, refuses the request.
 */
import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject, parseJson } from '../../common/text/json';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { quoteQualified } from '../../database/sql/identifier';
import { isServerUnavailable } from '../../database/sql/sqlstate';
import { codeOf } from '../../common/errors/error-facts';
import { type HookName, isAddress } from '../../projects/setting-secrets';
import { Project } from '../../projects/project';
import { SHORT_TIMEOUT } from '../accounts/account-statements';
import { hookFailed, hookRefused } from './hook.errors';
import { HookCalls } from './hook-calls.service';
import type { AccountToInsert } from '../accounts/account';
import type { Sender } from '../../identity/request-origin';

/** Maximum number of characters that are read from an answer. */
const MAX_ANSWER = 16_384;

/** SQL of a function's name. @param name as the setting has it: `schema.name` */
export function hookFunction(name: string): string {
  const [schema = '', own = ''] = name.split('.');
  return quoteQualified(schema, own);
}

@Injectable()
export class Hooks {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly calls: HookCalls,
  ) {}

  /**
   * Does nothing if the project has no such hook.
   * @param id the event's id, for a receiver that gets the event more than once
   * @throws AppError 4xx if the function refuses, 500 if it fails, 503 if the database cannot be reached
   */
  async runHook(project: Project, name: HookName, input: JsonObject, id?: string): Promise<void> {
    const target = project.settings[name];
    if (target === null) return;
    let answer: unknown;
    try {
      answer = isAddress(target)
        ? await this.calls.call(project, name, target, input, id)
        : await this.callFunction(project, name, target, input);
    } catch (error) {
      throw isServerUnavailable(codeOf(error) ?? '') ? error : hookFailed(name, error);
    }
    assertContinues(name, answer);
  }

  /** For an account that is about to be made. @throws AppError as runHook() */
  async beforeUserCreated({ project, origin: { ip } }: Sender, account: AccountToInsert): Promise<void> {
    const { id, email, phone, name, data, appData = {}, now } = account;
    await this.runHook(project, 'before_user_created_hook', {
      metadata: { name: 'before-user-created', time: now.toISOString(), ip_address: ip },
      user: {
        id,
        email: email?.address ?? '',
        phone: phone ?? '',
        name,
        user_metadata: data,
        app_metadata: appData,
        is_anonymous: email === null && phone === undefined,
      },
    });
  }

  private async callFunction(
    project: Project,
    name: HookName,
    target: string,
    input: JsonObject,
  ): Promise<unknown> {
    const statement = {
      text: `select left(${hookFunction(target)}($1::jsonb)::text, ${MAX_ANSWER + 1}) as answer`,
      values: [JSON.stringify(input)],
    };
    const reason = `the setting ${name}`;
    const results = await this.rls.systemBatch(project.database, reason, [SHORT_TIMEOUT, statement]);
    return results[1]?.rows[0]?.answer;
  }
}

/** @param text the answer as it was read @throws AppError as runHook() */
function assertContinues(name: HookName, text: unknown): void {
  if ((text ?? null) === null) return;
  const answer = typeof text === 'string' && text.length <= MAX_ANSWER ? parseJson(text) : undefined;
  if (answer === null) return;
  if (!isJsonObject(answer))
    throw hookFailed(name, new Error('it must return a JSON object of at most 16 KiB'));
  const { error, decision, message } = answer;
  if (isJsonObject(error)) throw hookRefused(error.http_code, error.message);
  if (error !== undefined && error !== null) throw hookFailed(name, new Error('error must be an object'));
  if (decision === 'reject') throw hookRefused(403, message);
  if (decision !== undefined && decision !== 'continue')
    throw hookFailed(name, new Error('decision must be "continue" or "reject"'));
}
