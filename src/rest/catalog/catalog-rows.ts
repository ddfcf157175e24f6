/** The rows of the catalog queries, as catalog.repository.ts reads them and build-catalog.ts takes them. */
import type { ColumnOrigin } from './view-origins';

export interface RelationRow {
  readonly oid: string;
  readonly schema: string;
  readonly name: string;
  readonly kind: 'r' | 'v' | 'm' | 'f' | 'p';
  readonly is_partition: boolean;
  /** Bits of pg_relation_is_updatable(): 4 update, 8 insert, 16 delete. */
  readonly updatable: number;
  readonly columns: readonly ColumnRow[] | null;
  /** Roles with rights to read or write it; `public` means all roles. Null: only its owner. */
  readonly grantees: readonly string[] | null;
}

/** A JSON array, because a thousand tables have ten thousand of them. */
export type ColumnRow = readonly [
  position: number,
  name: string,
  inputType: string,
  declaredType: string,
  baseType: string,
  nullable: boolean,
  hasDefault: boolean,
];

export interface ConstraintRow {
  readonly name: string;
  /** Primary key, unique, foreign key. */
  readonly type: 'p' | 'u' | 'f';
  readonly relation: string;
  readonly foreign_relation: string;
  readonly columns: readonly number[];
  readonly foreign_columns: readonly number[] | null;
  /** A copy that PostgreSQL made for a partition. */
  readonly inherited: boolean;
}

export interface RoutineRow {
  readonly schema: string;
  readonly name: string;
  readonly names: readonly string[] | null;
  /** i, o, b, v, t by pg_proc.proargmodes; null when all are input. */
  readonly modes: readonly string[] | null;
  /** Types of the input arguments. */
  readonly types: readonly string[] | null;
  /** Names and types of OUT, INOUT and TABLE columns; null without. */
  readonly output: readonly (readonly [name: string, type: string])[] | null;
  readonly default_count: number;
  readonly variadic: boolean;
  readonly volatility: 'i' | 's' | 'v';
  readonly returns_set: boolean;
  readonly single_row: boolean;
  readonly result_schema: string;
  readonly result_name: string;
  readonly base_name: string;
  readonly is_composite: boolean;
  /** Of the relation whose row type is the result, or the one argument. */
  readonly result_relation: string | null;
  readonly argument_relation: string | null;
  readonly statement_timeout: string | null;
  /** Its default_transaction_isolation. */
  readonly isolation: string | null;
  /** Roles that may call it; null is everybody. */
  readonly grantees: readonly string[] | null;
}

export interface HandlerRow {
  readonly media_type: string;
  readonly routine_schema: string;
  readonly routine_name: string;
  readonly is_aggregate: boolean;
  readonly is_binary: boolean;
  /** Of an aggregate's argument; null for anyelement. */
  readonly relation: string | null;
}

export interface RepresentationRow {
  readonly source: string;
  readonly target: string;
  readonly schema: string;
  readonly name: string;
}

/** One setting of a role; where a role has one for this database and one for all, the latter comes first. */
export interface RoleRow {
  readonly role: string;
  readonly name: string;
  readonly value: string;
}

/** The roles from which a relation's rows are withheld, of those that requests may run as. */
export interface WithheldRow {
  readonly relation: string;
  /** Roles without the right to read some column. */
  readonly hidden_from: readonly string[] | null;
  /** Roles that no policy for SELECT lets see any row. */
  readonly closed_to: readonly string[] | null;
}

/** A type whose values name objects of the system catalog. */
export interface RevealingRow {
  readonly schema: string;
  readonly name: string;
  /** As columns have it. */
  readonly shown: string;
}

/** The origins of a view's columns; several rows of one view count as the last. */
export type ViewRow = readonly [oid: string, origins: readonly ColumnOrigin[]];

export interface CatalogRows {
  readonly fingerprint: string;
  readonly announcesDdl: boolean;
  readonly setsResponse: boolean;
  /** False when no code of the database can read the facts of a request but its claims. */
  readonly readsRequest: boolean;
  /** False when no code of the database can keep an advisory lock or a temporary table beyond its transaction. */
  readonly leavesLocks: boolean;
  readonly relations: readonly RelationRow[];
  readonly views: readonly ViewRow[];
  readonly constraints: readonly ConstraintRow[];
  readonly routines: readonly RoutineRow[];
  readonly handlers: readonly HandlerRow[];
  readonly representations: readonly RepresentationRow[];
  readonly roles: readonly RoleRow[];
  readonly withheld: readonly WithheldRow[];
  readonly revealing: readonly RevealingRow[];
}
