/** PostgREST's deprecation warning for naming an embed by its relation although it has an alias. */
import type { RenamedEmbed } from '../plan/plan';
import { inQuotes } from './header-text';

const WILL_GO =
  'Embedded resource was referenced by relation name even though it has an alias. This is deprecated and will stop working in a future release.';
/** Characters. A longer list is left out, because clients limit a head to a few KiB. */
const LIST_LENGTH = 1_000;

/** The value of `Warning` (RFC 7234, 5.5). */
export function renamedWarning(renamed: readonly RenamedEmbed[]): string {
  const names = renamed.map(({ relation, alias }) => `\`${inQuotes(relation)}\` to \`${inQuotes(alias)}\``);
  const list = names.join(', ');
  const advice =
    list.length > LIST_LENGTH ? '' : ` Update ${list} in query string filters, orders or limits.`;
  return `299 Plinth "${WILL_GO}${advice}"`;
}
