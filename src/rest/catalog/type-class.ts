/** The class of a type, which decides on JSON paths and text search. */
import type { TypeClass } from './catalog';

/** @param baseType a domain's base type, or the type itself, as format_type() writes it */
export function typeClassOf(baseType: string): TypeClass {
  if (baseType === 'json' || baseType === 'jsonb') return 'json';
  return baseType === 'tsvector' ? 'tsvector' : 'other';
}
