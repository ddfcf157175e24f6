/** Signs a staff member in and makes a personal access token for the command line; the session itself ends again. */
import type { IncomingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { isJsonObject, parseJson } from '../common/text/json';
import { messageOf } from '../common/errors/error-facts';
import { CliError, EXIT } from './cli-error';
import { errorOf } from './admin-client';
import { sendRequest } from './send-request';

const ALL_SCOPES = ['read', 'write', 'sql', 'admin'];

export interface StaffCredentials {
  readonly email: string;
  readonly password: string;
  /** Asked for when the account has a second factor. */
  readonly askCode: () => Promise<string>;
}

export interface NewCliToken {
  readonly name: string;
  readonly lifetimeSeconds: number;
}

interface CliToken {
  readonly token: string;
  readonly id: string;
  readonly expires_at: string;
}

interface TextResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** @returns the answer to the creation of the token @throws CliError */
export async function makeCliToken(
  server: string,
  { email, password, askCode }: StaffCredentials,
  { name, lifetimeSeconds }: NewCliToken,
): Promise<CliToken> {
  let answer = await call(server, 'POST', '/session', {}, { email, password });
  if (errorOf(answer.text)?.code === 'factor_required') {
    const code = await askCode();
    answer = await call(server, 'POST', '/session', {}, { email, password, code });
  }
  const session = bodyOf<{ csrf_token: string }>(answer);
  const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0];
  if (cookie === undefined) throw new CliError('The response of the server contains no session', EXIT.failed);
  const headers = { cookie, 'x-csrf-token': session.csrf_token };
  try {
    const body = { name, scopes: ALL_SCOPES, expires_in: lifetimeSeconds };
    return bodyOf<CliToken>(await call(server, 'POST', '/tokens', headers, body));
  } finally {
    await call(server, 'DELETE', '/session', headers);
  }
}

async function call(
  server: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<TextResponse> {
  try {
    const response = await sendRequest(`${server}/admin/v1${path}`, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      body: body && JSON.stringify(body),
    });
    return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) };
  } catch (error) {
    throw new CliError(`No Plinth answers on ${server}: ${messageOf(error)}`, EXIT.noServer);
  }
}

/** @throws CliError with the server's message */
function bodyOf<T>({ status, text }: TextResponse): T {
  const body = parseJson(text);
  if (status < 300 && isJsonObject(body)) return body as T;
  const error = errorOf(text);
  const message = typeof error?.message === 'string' ? error.message : `the server answered ${status}`;
  throw new CliError(message, EXIT.failed, error);
}
