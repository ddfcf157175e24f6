/** The output of the compile stage: statements, whose parameters each request fills with its own values. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JsonRow } from '../../row-stream/json-row';
import type { CompileInput } from './compile-input';
import type { Parameter } from './parameter';
import type { StatementBuilder } from './statement-builder';

export interface CompiledStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** The name of the prepared statement, made of the text and the catalog's version. */
  readonly name: string;
  /** Prints its rows; null where PostgreSQL gives each row as one text. */
  readonly row: JsonRow | null;
}

export interface CompiledRequest {
  /** Their rows together are the answer; several only for inserts with very many sets of columns. */
  readonly main: readonly CompiledStatement[];
  /** One row with one number. */
  readonly exactCount: CompiledStatement | null;
  /** EXPLAIN (FORMAT JSON) of the read without its window. */
  readonly plannedCount: CompiledStatement | null;
}

export function finish(
  builder: StatementBuilder,
  query: string,
  input: CompileInput,
  row: JsonRow | null = null,
): CompiledStatement {
  const { text, parameters } = builder.finish(query);
  return { text, parameters, name: nameOf(text, input), row };
}

/** PostgreSQL keeps 63 bytes of a name; the door puts the role before this. */
export function nameOf(text: string, { catalogVersion }: CompileInput): string {
  return catalogVersion + digestOf(text);
}

/** Most requests have a text that came before, and looking it up is cheaper than hashing it. */
const DIGESTS = new LRUCache<string, string>({ max: 2_000 });

function digestOf(text: string): string {
  const known = DIGESTS.get(text);
  if (known !== undefined) return known;
  const digest = createHash('sha1').update(text).digest('base64url').slice(0, 20);
  DIGESTS.set(text, digest);
  return digest;
}
