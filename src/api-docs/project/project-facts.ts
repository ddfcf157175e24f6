/** What a role may see and call of a project's schemas, as project-facts.repository.ts reads it. */

/** A relation that the role has some right to. */
export interface RelationFacts {
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  readonly may_delete: boolean;
  readonly columns: readonly ColumnFacts[] | null;
}

/** A JSON array, because a thousand tables have ten thousand of them. */
export type ColumnFacts = readonly [
  name: string,
  /** Bits of RIGHTS. */
  rights: number,
  /** True for what nobody may write: generated columns, identities ALWAYS. */
  isGenerated: boolean,
  /** The default as PostgreSQL prints it. */
  defaultText: string | null,
  comment: string | null,
];

export const RIGHTS = { select: 1, insert: 2, update: 4 } as const;

/** A function that the role may execute. */
export interface RoutineFacts {
  readonly schema: string;
  readonly name: string;
  /** Types of the input arguments, as the catalog writes them. */
  readonly types: readonly string[];
  readonly result: string;
  readonly comment: string | null;
}

/** A type that is not PostgreSQL's own, but for arrays: an enum, a domain, a row type; a base or range type. */
export interface TypeFacts {
  /** As format_type() writes it under an empty search_path. */
  readonly name: string;
  readonly schema: string;
  readonly type_name: string;
  readonly kind: 'e' | 'd' | 'c' | 'b' | 'r' | 'm';
  /** False for a type that the role may not use: neither its name nor what is in it is told. */
  readonly usable: boolean;
  /** Of a domain, with length and precision. */
  readonly base: string | null;
  readonly labels: readonly string[] | null;
  /** Of a composite type; null for the row type of a relation. */
  readonly attributes: readonly (readonly [name: string, type: string])[] | null;
  readonly comment: string | null;
}

export interface ProjectFacts {
  readonly relations: readonly RelationFacts[];
  readonly routines: readonly RoutineFacts[];
  readonly types: readonly TypeFacts[];
}
