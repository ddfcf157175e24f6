/** Signs tokens with arbitrary text as header and claims, because jsonwebtoken refuses to sign invalid claims. */
import { createHmac } from 'node:crypto';

/** Signs with HS256, whatever algorithm the header names. */
export function signText(secret: string, header: string, claims: string | Buffer): string {
  const text = [header, claims].map((part) => Buffer.from(part).toString('base64url')).join('.');
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
