/** Documents a column's default if it is a literal. An expression may contain names that the caller must not see. */
import { parseJson } from '../../common/text/json';
import type { Schema } from './openapi';

/** `'it''s'::text`, `'{}'::jsonb`, `5`, `(-1)`, `'-1'::integer`, `true`: a literal, with or without a cast. */
const QUOTED = /^\(?'((?:[^']|'')*)'\)?(?:::[\w\s."\]()[,]+)?$/;
const BARE = /^\(?(-?\d+(?:\.\d+)?|true|false)\)?(?:::[\w\s."\]()[,]+)?$/;

/**
 * The default as JSON, if it is a literal of a type that JSON has.
 * @param text as pg_get_expr() prints it
 * @returns undefined for expressions and for literals of other types
 */
export function defaultValue(text: string, { type, allOf }: Schema): unknown {
  const literal = BARE.exec(text)?.[1] ?? QUOTED.exec(text)?.[1]?.replaceAll("''", "'");
  if (literal === undefined || allOf) return undefined;
  switch (type) {
    case 'string':
      return literal;
    case 'integer':
    case 'number':
      return exactNumber(literal);
    case 'boolean':
      return literal === 'true' ? true : literal === 'false' ? false : undefined;
    case 'array':
      return literal === '{}' ? [] : undefined;
    case undefined:
      return parseJson(literal);
    default:
      return undefined;
  }
}

/** False where a JSON number would differ from the stored value. */
function exactNumber(literal: string): number | undefined {
  const value = Number(literal);
  return literal !== '' && Number.isFinite(value) && String(value) === literal ? value : undefined;
}
