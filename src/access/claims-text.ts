/** The bearer's claims as the text that row-level security reads (`request.jwt.claims`). */
import { JsonObject } from '../common/text/json';

/**
 * With the user's id first and a blank before it: from that beginning, which no other JSON is likely to have, auth.uid()
 * takes the id without reading the rest. Text that JavaScript would print otherwise, a number beyond 2^53 for one, stays as
 * it was signed: there the id comes a second time, and PostgreSQL takes the last of members of one name.
 * @param signed the claims as they were signed
 * @param userId `sub`, if that is a UUID
 */
export function claimsText(claims: JsonObject, signed: string, userId: string | null): string {
  const text = signed.trim();
  if (userId === null) return text;
  if (JSON.stringify(claims) === text) return ` ${JSON.stringify({ sub: '', ...claims })}`;
  return ` {"sub":${JSON.stringify(claims.sub)},${text.slice(1)}`;
}
