/** The objects of a project's schemas that a role may see and call, as project-facts.repository.ts reads them. */
import type { QualifiedName } from '../rest/catalog/catalog';

/** A relation on which the role has a privilege. */
export interface RelationFacts {
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  readonly may_delete: boolean;
  readonly columns: readonly ColumnFacts[] | null;
}

/** A tuple instead of an object, because a thousand tables have ten thousand columns. */
export type ColumnFacts = readonly [
  name: string,
  /** Bits of RIGHTS. */
  rights: number,
  /** True for columns that no role may write: generated columns, identities ALWAYS. */
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
  /** Types of the input arguments, as in the catalog. */
  readonly types: readonly string[];
  readonly result: string;
  readonly returns_set: boolean;
  readonly comment: string | null;
}

/** A type that is neither built in nor an array: an enum, a domain, a row type; a base or range type. */
export interface TypeFacts {
  /** As format_type() writes it under an empty search_path. */
  readonly name: string;
  readonly schema: string;
  readonly type_name: string;
  readonly kind: 'e' | 'd' | 'c' | 'b' | 'r' | 'm';
  /** False for a type that the role may not use: its name and its contents are left out. */
  readonly usable: boolean;
  /** Base type of a domain, with length and precision. */
  readonly base: string | null;
  readonly labels: readonly string[] | null;
  /** Attributes of a composite type; null for the row type of a relation. */
  readonly attributes: readonly (readonly [name: string, type: string])[] | null;
  readonly comment: string | null;
}

export const typeName = ({ schema, type_name: name }: TypeFacts): QualifiedName => ({ schema, name });

export interface ProjectFacts {
  readonly relations: readonly RelationFacts[];
  readonly routines: readonly RoutineFacts[];
  readonly types: readonly TypeFacts[];
}
