/**
 * Calls the functions that a project has set for moments of a sign-in (settings `..._hook`). What a function answers is a
 * stranger's input. A function that fails, or takes too long, refuses the request.
 */
import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject, parseJson } from '../../common/text/json';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { quoteQualified } from '../../database/sql/identifier';
import { isServerUnavailable } from '../../database/sql/sqlstate';
import { codeOf } from '../../common/errors/error-facts';
import { Project } from '../../projects/project';
import { SHORT_TIMEOUT } from '../accounts/account-statements';
import { hookFailed, hookRefused } from './hook.errors';

/** Characters that are read of an answer. */
const MAX_ANSWER = 16_384;

export type HookName =
  | 'before_user_created_hook'
  | 'password_verification_attempt_hook'
  | 'mfa_verification_attempt_hook'
  | 'send_email_hook';

/** SQL of a function's name. @param name as the setting has it: `schema.name` */
export function hookFunction(name: string): string {
  const [schema = '', own = ''] = name.split('.');
  return quoteQualified(schema, own);
}

@Injectable()
export class Hooks {
  constructor(private readonly rls: RlsTransaction) {}

  /**
   * Does nothing where the project has no such hook.
   * @throws AppError 4xx if the function refuses, 500 if it fails, 503 if the database cannot be reached
   */
  async run(project: Project, name: HookName, input: JsonObject): Promise<void> {
    const named = project.settings[name];
    if (named === null) return;
    const statement = {
      text: `select left(${hookFunction(named)}($1::jsonb)::text, ${MAX_ANSWER + 1}) as answer`,
      values: [JSON.stringify(input)],
    };
    let answer: unknown;
    try {
      const results = await this.rls.systemBatch(project.database, `the setting ${name}`, [
        SHORT_TIMEOUT,
        statement,
      ]);
      answer = results[1]?.rows[0]?.answer;
    } catch (error) {
      throw isServerUnavailable(codeOf(error) ?? '') ? error : hookFailed(name, error);
    }
    assertContinues(name, answer);
  }
}

/** @param text the answer as it was read @throws AppError as run() */
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
