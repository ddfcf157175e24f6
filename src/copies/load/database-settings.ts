/**
 * Restores settings of ALTER DATABASE and ALTER ROLE. They are a stranger's input, so the owner makes them, and PostgreSQL
 * decides which settings an owner may make.
 */
import { codeOf, messageOf } from '../../common/errors/error-facts';
import type { BoundedClient } from '../../database/pools/one-off-connection';
import { quoteIdentifier, quoteLiteral } from '../../database/sql/identifier';
import type { ArchivedDatabaseSetting } from '../archived-objects';

/** Settings whose value is a list of quoted names (GUC_LIST_QUOTE); a literal would become one name. */
const LISTS = ['local_preload_libraries', 'search_path', 'session_preload_libraries', 'temp_tablespaces'];
const NAME_IN_LIST = /"(?:[^"]|"")*"|[^\s,"]+/g;
/** Classes of SQLSTATE: not permitted, or not known on this server; an invalid value; cannot be changed. */
const REFUSALS = ['0A', '22', '42', '55'];

export interface SettingsTarget {
  readonly database: string;
  /** New names of roles by their old ones. */
  readonly roles: ReadonlyMap<string, string>;
}

/**
 * @param client connected as the owner
 * @returns a line about each setting that PostgreSQL refused
 */
export async function restoreSettings(
  client: BoundedClient,
  settings: readonly ArchivedDatabaseSetting[],
  target: SettingsTarget,
): Promise<string[]> {
  const refused: string[] = [];
  for (const setting of settings) {
    try {
      await client.query(statementFor(setting, target));
    } catch (error) {
      if (!REFUSALS.includes(codeOf(error)?.slice(0, 2) ?? '')) throw error;
      const of = setting.role === null ? '' : ` of the role ${setting.role}`;
      refused.push(`${setting.name}${of}: ${messageOf(error)}`);
    }
  }
  return refused;
}

/** `alter role "a" in database "b" set "work_mem" to '64MB'` */
export function statementFor(
  { role, in_database: inDatabase, name, value }: ArchivedDatabaseSetting,
  { database, roles }: SettingsTarget,
): string {
  const ofDatabase = `database ${quoteIdentifier(database)}`;
  const subject =
    role === null
      ? ofDatabase
      : `role ${quoteIdentifier(roles.get(role) ?? role)}${inDatabase ? ` in ${ofDatabase}` : ''}`;
  // A name with dots is a custom setting.
  const setting = name.split('.').map(quoteIdentifier).join('.');
  const values = LISTS.includes(name.toLowerCase()) ? namesOf(value) : [value];
  return `alter ${subject} set ${setting} to ${values.map(quoteLiteral).join(', ')}`;
}

/** `"$user", public` to `$user` and `public` */
function namesOf(list: string): string[] {
  const names = list.match(NAME_IN_LIST) ?? [''];
  return names.map((name) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name));
}
