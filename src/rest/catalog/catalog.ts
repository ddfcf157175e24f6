/**
 * A project's schema as table REST uses it: immutable, built by build-catalog.ts, read by the plan stage. Names are as
 * PostgreSQL holds them, unquoted; type names are as format_type() writes them under an empty search_path: qualified and
 * quoted where needed, ready to stand in SQL.
 */

export type RelationKind = 'table' | 'view' | 'materialized-view' | 'foreign-table' | 'partitioned-table';

export interface QualifiedName {
  readonly schema: string;
  readonly name: string;
}

export interface Column {
  readonly name: string;
  /** Type to read a JSON value into: a domain's base type, with length and precision. */
  readonly inputType: string;
  /** The declared type, domains kept; without length and precision. */
  readonly declaredType: string;
  readonly typeClass: TypeClass;
  readonly nullable: boolean;
  /** True when leaving the column out is not the same as writing null: a default, an identity, a domain's default. */
  readonly hasDefault: boolean;
}

/** The class of a type, which JSON paths and text search depend on. */
export type TypeClass = 'json' | 'tsvector' | 'other';

/** A function that takes a relation's row and gives one value. */
export interface ComputedField extends QualifiedName {
  readonly typeClass: TypeClass;
}

export interface Relation extends QualifiedName {
  readonly kind: RelationKind;
  readonly columns: ReadonlyMap<string, Column>;
  /** Of a view: those of its base table, as far as it shows all of them. Empty without a key. */
  readonly primaryKey: readonly string[];
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  /** By name. */
  readonly computed: ReadonlyMap<string, readonly ComputedField[]>;
  readonly isPartition: boolean;
  /** Roles with rights to it, to which its name may be told. `public` means all roles. */
  readonly grantees: ReadonlySet<string>;
  /** Roles that may not read some column of it, so that all columns of a written row cannot be returned to them. */
  readonly hiddenFrom: ReadonlySet<string>;
  /** Roles to which no policy shows any of its rows, not even an inserted one. */
  readonly closedTo: ReadonlySet<string>;
}

/** A column of the near side and the one of the far side that it equals. */
export type ColumnPair = readonly [near: string, far: string];

interface RelationshipEnds {
  readonly from: QualifiedName;
  readonly to: QualifiedName;
  readonly fromIsView: boolean;
  readonly toIsView: boolean;
  readonly isSelf: boolean;
}

export interface DirectRelationship extends RelationshipEnds {
  readonly kind: 'many-to-one' | 'one-to-many' | 'one-to-one';
  readonly constraint: string;
  readonly columns: readonly ColumnPair[];
  /** One-to-one only: true on the side that is referenced. */
  readonly isParent: boolean;
}

export interface JunctionRelationship extends RelationshipEnds {
  readonly kind: 'many-to-many';
  readonly junction: QualifiedName;
  readonly nearConstraint: string;
  readonly farConstraint: string;
  /** Columns of `from` and of the junction. */
  readonly nearColumns: readonly ColumnPair[];
  /** Columns of the junction and of `to`. */
  readonly farColumns: readonly ColumnPair[];
}

/** A function from one relation's row to rows of another. */
interface ComputedRelationship extends RelationshipEnds {
  readonly kind: 'computed';
  readonly routine: QualifiedName;
  readonly toOne: boolean;
}

export type Relationship = DirectRelationship | JunctionRelationship | ComputedRelationship;

export interface RoutineArgument {
  /** Empty for an unnamed one. */
  readonly name: string;
  readonly type: string;
  /** Type to bind a value to: like `type`, but without a length that PostgreSQL would assume. */
  readonly inputType: string;
  readonly required: boolean;
  readonly variadic: boolean;
}

type RoutineResult = 'scalar' | 'composite' | 'void';

export interface Routine extends QualifiedName {
  readonly arguments: readonly RoutineArgument[];
  readonly volatility: 'immutable' | 'stable' | 'volatile';
  readonly result: RoutineResult;
  readonly returnsSet: boolean;
  /** The relation whose rows it returns, if any: its filters and embeds apply. */
  readonly relation: QualifiedName | null;
  /** Its columns when it returns rows of no relation: OUT, INOUT and TABLE columns. */
  readonly columns: ReadonlyMap<string, Column>;
  /** The declared result type, for media type domains. */
  readonly resultType: QualifiedName;
  /** Milliseconds, where the function sets a statement_timeout of its own. */
  readonly statementTimeout: string | null;
  /** The isolation level, where the function sets a default_transaction_isolation of its own. */
  readonly isolation: string | null;
  /** Roles that may call it, to which its name may be told; null means all roles. */
  readonly grantees: ReadonlySet<string> | null;
}

/** A function that makes a media type of a row set (an aggregate) or of a function's result (a domain). */
export interface MediaHandler {
  readonly mediaType: string;
  /** The Content-Type of the answer: `application/octet-stream` for a handler of any type. */
  readonly contentType: string;
  /** The relation whose rows it takes; null takes any. For a domain: the function that returns it. */
  readonly appliesTo: QualifiedName | null;
  /** Null when the function's result is the media type already. */
  readonly aggregate: QualifiedName | null;
  /** True when the domain is over bytea. */
  readonly isBinary: boolean;
}

/** A cast of a domain: from it to JSON, or from text or JSON to it. */
export interface Representation {
  readonly source: string;
  readonly target: string;
  readonly routine: QualifiedName;
}

export interface Catalog {
  /** Changes with anything in the catalog: part of the names of prepared statements. */
  readonly version: string;
  /** The fingerprint of the schema when the catalog was read. */
  readonly fingerprint: string;
  readonly relations: ReadonlyMap<string, Relation>;
  /** From each relation, by relationKey(). */
  readonly relationships: ReadonlyMap<string, readonly Relationship[]>;
  readonly routines: ReadonlyMap<string, readonly Routine[]>;
  readonly mediaHandlers: readonly MediaHandler[];
  /** By representationKey(). */
  readonly representations: ReadonlyMap<string, Representation>;
  /** The settings of roles (ALTER ROLE), by role and name. SET ROLE applies none of them, so requests set them themselves. */
  readonly roleSettings: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** By schema, types whose values name objects of the system catalog: `regclass` and its like, and all that is made of them. */
  readonly revealingTypes: ReadonlyMap<string, ReadonlySet<string>>;
  /** True where an event trigger announces DDL; elsewhere changes are found by comparing. */
  readonly announcesDdl: boolean;
  /** True when some function may set response.headers or response.status. */
  readonly setsResponse: boolean;
  /** False when no code of the database can read the facts of a request but its claims. */
  readonly readsRequest: boolean;
  /** False when no code of the database can keep an advisory lock or a temporary table beyond its transaction. */
  readonly leavesLocks: boolean;
}

/** The key of a relation or routine in the catalog's maps; no name holds a NUL. */
export function nameKey({ schema, name }: QualifiedName): string {
  return `${schema}\0${name}`;
}

export function representationKey(source: string, target: string): string {
  return `${source}\0${target}`;
}

export function isToOne(relationship: Relationship): boolean {
  switch (relationship.kind) {
    case 'many-to-one':
    case 'one-to-one':
      return true;
    case 'computed':
      return relationship.toOne;
    case 'one-to-many':
    case 'many-to-many':
      return false;
  }
}
