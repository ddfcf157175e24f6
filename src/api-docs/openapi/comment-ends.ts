/**
 * Generators write texts of a document into block comments of code, some of them as they are. A name with an asterisk and a
 * slash would end the comment, and its rest would be code in a developer's client.
 */

export const COMMENT_END = '*/';

const TEXTS: ReadonlySet<string> = new Set(['title', 'summary', 'description', 'example', 'x-postgres-type']);

/** A copy of a part of a document whose texts end no comment. Names of members and values of enums stay as they are. */
export function withoutCommentEnds<Part>(part: Part): Part {
  return JSON.parse(JSON.stringify(part, replaceEnds)) as Part;
}

function replaceEnds(key: string, value: unknown): unknown {
  if (typeof value === 'string' && TEXTS.has(key)) return value.replaceAll(COMMENT_END, '* /');
  if (key !== 'examples' || !Array.isArray(value)) return value;
  return value.map((one: unknown) => replaceEnds('example', one));
}
