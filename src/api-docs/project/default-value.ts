/** Documents a column's default if it is a literal. An expression may contain names that the caller must not see. */
import { parseJson } from '../../common/text/json';

/** `'it''s'::text`, `'{}'::jsonb`, `5`, `(-1)`, `'-1'::integer`, `true`: a literal, with or without a cast. */
const QUOTED = /^\(?'((?:[^']|'')*)'\)?(?:::[\w\s."\]()[,]+)?$/;
const BARE = /^\(?(-?\d+(?:\.\d+)?|true|false)\)?(?:::[\w\s."\]()[,]+)?$/;

const NUMBER = /^(smallint|integer|bigint|real|double precision|numeric)/;

/**
 * The default as JSON, if it is a literal.
 * @param text as pg_get_expr() prints it
 * @param type the type of the column, as format_type() writes it
 * @returns undefined for expressions and for literals that JSON would change
 */
export function defaultValue(text: string, type: string): unknown {
  const literal = BARE.exec(text)?.[1] ?? QUOTED.exec(text)?.[1]?.replaceAll("''", "'");
  if (literal === undefined) return undefined;
  if (type.endsWith('[]')) return literal === '{}' ? [] : undefined;
  if (NUMBER.test(type)) return exactNumber(literal);
  if (type === 'boolean') return literal === 'true' ? true : literal === 'false' ? false : undefined;
  if (type === 'json' || type === 'jsonb') return parseJson(literal);
  return literal;
}

/** Undefined where a JSON number would differ from the stored value. */
function exactNumber(literal: string): number | undefined {
  const value = Number(literal);
  return literal !== '' && Number.isFinite(value) && String(value) === literal ? value : undefined;
}
