/** `Prefer: handling=strict` refuses preferences that Plinth does not know (RFC 7240, 2). */
import type { RequestShape } from '../grammar/rest-request';
import { restError } from '../rest.errors';

/** @throws AppError PL122 */
export function assertPreferences({ preferences }: RequestShape): void {
  if (preferences.handling !== 'strict' || preferences.unknown.length === 0) return;
  throw restError('PL122', {
    message: 'Invalid preferences given with handling=strict',
    detail: `Invalid preferences: ${preferences.unknown.join(', ')}`,
  });
}
