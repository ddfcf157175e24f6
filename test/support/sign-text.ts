/** Tokens whose header and claims are any text: jsonwebtoken refuses to sign most of what an attacker would. */
import { createHmac } from 'node:crypto';

/** Signed with HS256, whatever the header says. */
export function signText(secret: string, header: string, claims: string | Buffer): string {
  const text = [header, claims].map((part) => Buffer.from(part).toString('base64url')).join('.');
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
