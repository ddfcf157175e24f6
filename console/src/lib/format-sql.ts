/** SQL in lines and indents. The library is loaded at the first use. */

/** Number of characters above which formatting would block the page for several seconds. */
const MAX_CHARACTERS = 30_000;

/** @throws Error if the text is too long, or is not SQL that the library knows */
export async function formatSql(text: string): Promise<string> {
  if (text.length > MAX_CHARACTERS) throw new Error('The SQL is too long to format');
  const { formatDialect, postgresql } = await import('sql-formatter');
  return formatDialect(text, {
    dialect: postgresql,
    paramTypes: { named: [':'], numbered: ['$'] },
    linesBetweenQueries: 1,
  });
}
