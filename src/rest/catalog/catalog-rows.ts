/** The rows of the catalog queries: read by catalog.repository.ts, used by build-catalog.ts. */
import type { CodeTraits } from './catalog';
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
  /** Roles with privileges to read or write it; `public` means all roles. Null: only its owner. */
  readonly grantees: readonly string[] | null;
}

/** A tuple instead of an object, because a thousand tables have ten thousand columns. */
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
  /** pg_constraint.contype: primary key, unique, foreign key. */
  readonly type: 'p' | 'u' | 'f';
  readonly relation: string;
  readonly foreign_relation: string;
  readonly columns: readonly number[];
  readonly foreign_columns: readonly number[] | null;
  /** True for a constraint that a partition inherits. */
  readonly inherited: boolean;
}

export interface RoutineRow {
  readonly schema: string;
  readonly name: string;
  readonly names: readonly string[] | null;
  /** pg_proc.proargmodes (i, o, b, v, t); null when all are input. */
  readonly modes: readonly string[] | null;
  /** Types of the input arguments. */
  readonly types: readonly string[] | null;
  /** Names and types of OUT, INOUT and TABLE columns; null when there are none. */
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
  /** The relation whose row type is the type of the result, or of the only argument. */
  readonly result_relation: string | null;
  readonly argument_relation: string | null;
  readonly statement_timeout: string | null;
  /** The function's default_transaction_isolation. */
  readonly isolation: string | null;
  /** Roles that may call it; null: all roles. */
  readonly grantees: readonly string[] | null;
}

export interface HandlerRow {
  readonly media_type: string;
  readonly routine_schema: string;
  readonly routine_name: string;
  readonly is_aggregate: boolean;
  readonly is_binary: boolean;
  /** Relation of an aggregate's argument; null for anyelement. */
  readonly relation: string | null;
}

export interface RepresentationRow {
  readonly source: string;
  readonly target: string;
  readonly schema: string;
  readonly name: string;
}

/** A setting of a role. If it is set for this database and for all databases, the row of this database comes last. */
export interface RoleRow {
  readonly role: string;
  readonly name: string;
  readonly value: string;
}

/** The roles of requests that cannot read a relation's rows. */
export interface WithheldRow {
  readonly relation: string;
  /** Roles without SELECT on some column. */
  readonly hidden_from: readonly string[] | null;
  /** Roles for which no SELECT policy shows any row. */
  readonly closed_to: readonly string[] | null;
}

/** A type whose text output shows names of the system catalog. */
export interface RevealingRow {
  readonly schema: string;
  readonly name: string;
  /** The type's name as format_type() writes it for a column. */
  readonly shown: string;
}

/** The origins of a view's columns. If a view has several rows, the last row counts. */
export type ViewRow = readonly [oid: string, origins: readonly ColumnOrigin[]];

export interface CatalogRows extends CodeTraits {
  readonly fingerprint: string;
  readonly announcesDdl: boolean;
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
