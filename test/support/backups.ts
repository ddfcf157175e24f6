/** Backs up and restores projects over HTTP. */
import type { HttpAnswer } from './http-client';
import type { TestPlinth } from './plinth';

export const PASSPHRASE = 'correct horse — battery staple';

/** A key pair of age. */
export const AGE_IDENTITY = 'AGE-SECRET-KEY-1Y7EWZTTMDFUR47MWU378Y2YHXPL3P025VHZ4PVQL7XNZX974CA8S3MVG4X';
export const AGE_RECIPIENT = 'age1eq3vwchq9780ckavvyzph8nzjyxecqh3jwesamcxtlaxj0ek3ayqx5hak9';

const passphraseHeader = (passphrase: string): Record<string, string> => ({
  'backup-passphrase': encodeURIComponent(passphrase),
});

/** @throws Error if the backup is refused, or ends early */
export async function backUp(
  plinth: TestPlinth,
  projectId: string,
  passphrase = PASSPHRASE,
): Promise<Buffer> {
  const answer = await fetch(`${plinth.baseUrl}/admin/v1/projects/${projectId}/backup`, {
    headers: { ...plinth.admin.headers, ...passphraseHeader(passphrase) },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.status !== 200) throw new Error(`backup answered ${answer.status}: ${bytes.toString('utf8')}`);
  return bytes;
}

export function restore(
  plinth: TestPlinth,
  archive: Buffer,
  {
    path = '/restore',
    query = '',
    passphrase = PASSPHRASE,
  }: { path?: string; query?: string; passphrase?: string } = {},
): Promise<HttpAnswer> {
  const headers = { 'content-type': 'application/gzip', ...passphraseHeader(passphrase) };
  return plinth.admin.post(`/admin/v1${path}${query}`, archive, { headers });
}
