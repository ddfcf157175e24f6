/** The bearer's claims as the text that row-level security reads (`request.jwt.claims`). */
import { JsonObject } from '../common/text/json';

/**
 * With the user's id first and a space before it: from that beginning, which nobody else's JSON is likely to have,
 * auth.uid() takes the id without reading the rest.
 * @param userId `sub`, if that is a UUID
 */
export function claimsText(claims: JsonObject, userId: string | null): string {
  return userId === null ? JSON.stringify(claims) : ` ${JSON.stringify({ sub: '', ...claims })}`;
}
