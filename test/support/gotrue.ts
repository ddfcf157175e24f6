/** Clients and mails of GoTrue's paths. */
import type { HttpClient } from './http-client';
import { eventually, type MailServer, type ReceivedMail } from './mail-server';
import type { TestProject } from './test-project';

export interface MailedLink {
  readonly mail: ReceivedMail;
  /** The code in the mail: six digits. */
  readonly code: string;
  /** The URL in the link, with the token. */
  readonly url: URL;
  readonly token: string;
}

/** Base path of a project's GoTrue paths. */
export const gotrue = ({ slug }: TestProject): string => `/p/${slug}/auth/v1`;

export const guestOf = (project: TestProject): HttpClient => project.client(project.anonKey, null);

/** Waits for the given number of mails to an address. @returns the newest */
export async function mailTo(smtp: MailServer, address: string, count = 1): Promise<MailedLink> {
  await eventually(() => smtp.to(address).length >= count || null);
  const mail = smtp.to(address).at(-1) as ReceivedMail;
  const text = mail.text ?? '';
  const url = new URL(/^http\S+\/verify\?\S+$/m.exec(text)?.[0] ?? 'about:blank');
  return {
    mail,
    url,
    code: /\b\d{6}\b/.exec(text.replace(/^http\S+$/m, ''))?.[0] ?? '',
    token: url.searchParams.get('token') ?? '',
  };
}

/** Sends the form as the button of the page does. */
export function pressButton(
  project: TestProject,
  { url, token }: Pick<MailedLink, 'url' | 'token'>,
  change: Record<string, string> = {},
): ReturnType<HttpClient['send']> {
  const form = new URLSearchParams({
    token,
    type: url.searchParams.get('type') ?? '',
    redirect_to: url.searchParams.get('redirect_to') ?? '',
    ...change,
  });
  return project
    .client(null, null)
    .unchecked()
    .send('POST', `${gotrue(project)}/verify/confirm`, {
      body: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
}
