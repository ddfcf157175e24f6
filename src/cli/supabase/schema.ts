/** The text of pg_dump, object by object, and its conversion: columns of auth.users have other names here. */

export interface DumpEntry {
  /** `TABLE public.orders`. */
  readonly object: string;
  readonly text: string;
}

/** Columns of Supabase's auth.users, and their names here. */
const USER_COLUMNS: Readonly<Record<string, string>> = {
  raw_user_meta_data: 'data',
  raw_app_meta_data: 'app_data',
  email_confirmed_at: 'email_verified_at',
  confirmed_at: 'email_verified_at',
  phone_confirmed_at: 'phone_verified_at',
};
const COLUMN = Object.keys(USER_COLUMNS).join('|');
/** A column that no other table has. */
const OWN_COLUMN = 'raw_user_meta_data|raw_app_meta_data';

const ENTRY = /^--\n-- Name: ([^\n]*); Type: ([A-Z ]+); Schema: ([^\n]*); Owner: [^\n]*\n--\n\n/gm;

/** @returns the settings at the beginning, and the objects in their order */
export function entriesOf(dump: string): {
  readonly settings: string;
  readonly entries: readonly DumpEntry[];
} {
  const heads = [...dump.matchAll(ENTRY)];
  const entries = heads.flatMap((head, n): DumpEntry[] => {
    const [whole, name = '', type = '', schema = ''] = head;
    const end = heads[n + 1]?.index ?? dump.length;
    const text = dump.slice(head.index + whole.length, end).trim();
    const isPublic = /^(SCHEMA )?public$/.test(name) && (type === 'SCHEMA' || type === 'COMMENT');
    // Supabase's own webhooks call a function that Plinth lacks.
    if (isPublic || text === '' || text.includes('EXECUTE FUNCTION supabase_functions.')) return [];
    return [{ object: `${type} ${schema === '-' ? '' : `${schema}.`}${name}`, text }];
  });
  return { settings: dump.slice(0, heads[0]?.index ?? 0), entries };
}

/**
 * @param userTriggers names of the functions that triggers on auth.users call
 * @returns the statements with the names of columns here
 */
export function adapted({ object, text }: DumpEntry, userTriggers: ReadonlySet<string>): string {
  const name = /\.([^.(]+)\(/.exec(object)?.[1] ?? '';
  if (object.startsWith('FUNCTION') && userTriggers.has(name.replaceAll('"', '')))
    return text.replace(
      new RegExp(`\\b(new|old)(\\s*\\.\\s*)(${COLUMN})\\b`, 'gi'),
      (_all, row: string, dot: string, column: string) => row + dot + here(column),
    );
  if (!/\bauth\.users\b/.test(text)) return text;
  // A column of a view keeps its name, to which others refer.
  const named = /^(MATERIALIZED )?VIEW/.test(object)
    ? text.replace(
        new RegExp(`(?<!\\bAS )\\b(\\w+\\.)?(${OWN_COLUMN})(?=,?\\n)`, 'g'),
        (_all, table: string | undefined, column: string) => `${table ?? ''}${here(column)} AS ${column}`,
      )
    : text;
  return named.replace(new RegExp(`(?<!\\bAS )\\b(${OWN_COLUMN})\\b`, 'gi'), (column) => here(column));
}

/** A trigger on auth.users. */
export const adaptedTrigger = (text: string): string =>
  text.replace(new RegExp(`\\b(${COLUMN})\\b`, 'g'), (column) => here(column));

const here = (column: string): string => USER_COLUMNS[column.toLowerCase()] ?? column;

/** The names that a function uses and that Plinth lacks. */
export function missingParts({ object, text }: DumpEntry): string[] {
  if (!/^(FUNCTION|PROCEDURE)/.test(object)) return [];
  const parts = ['vault', 'net', 'cron', 'pgmq', 'pgsodium', 'supabase_functions', 'graphql'];
  return parts.filter((part) => new RegExp(`\\b${part}\\.\\w`).test(text));
}
