/** The bearer's claims as the text that row-level security reads (`request.jwt.claims`). */
import { JsonObject } from '../common/text/json';

/**
 * Begins with a space and the user's id: auth.uid() recognises this prefix, which no other JSON is likely to have, and reads
 * the id without parsing the rest. Text that JavaScript would print differently (numbers beyond 2^53) stays as it was signed:
 * the id then appears twice, and PostgreSQL takes the last of several members with one name.
 * @param signed the claims as they were signed
 * @param userId `sub`, if that is a UUID
 */
export function claimsText(claims: JsonObject, signed: string, userId: string | null): string {
  const text = signed.trim();
  if (userId === null) return text;
  if (JSON.stringify(claims) === text) return ` ${JSON.stringify({ sub: '', ...claims })}`;
  return ` {"sub":${JSON.stringify(claims.sub)},${text.slice(1)}`;
}
