/**
 * A project's schema as table REST uses it: immutable, built by build-catalog.ts, read by the plan stage. Names
 * are unquoted, as PostgreSQL stores them. Type names are as format_type() writes them under an empty
 * search_path: qualified and quoted where needed, so they can be used in SQL.
 */

export type RelationKind = 'table' | 'view' | 'materialized-view' | 'foreign-table' | 'partitioned-table';

export interface QualifiedName {
  readonly schema: string;
  readonly name: string;
}

export interface Column {
  readonly name: string;
  /** The type that a JSON value is read into: a domain's base type, with length and precision. */
  readonly inputType: string;
  /** The declared type, domains kept; without length and precision. */
  readonly declaredType: string;
  readonly typeClass: TypeClass;
  readonly nullable: boolean;
  /** True when omitting the column differs from writing null: a default, an identity, a domain's default. */
  readonly hasDefault: boolean;
}

/** The class of a type, which decides on JSON paths and text search. */
export type TypeClass = 'json' | 'tsvector' | 'other';

/** A computed field: a function that takes a relation's row and returns one value. */
export interface ComputedField extends QualifiedName {
  readonly typeClass: TypeClass;
}

export interface Relation extends QualifiedName {
  readonly kind: RelationKind;
  readonly columns: ReadonlyMap<string, Column>;
  /** The primary key. For a view, the key of its base table if the view shows all columns of that key. Empty without a key. */
  readonly primaryKey: readonly string[];
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  /** Keyed by name. */
  readonly computed: ReadonlyMap<string, readonly ComputedField[]>;
  readonly isPartition: boolean;
  /** Roles with privileges on it, which may see its name. `public` means all roles. */
  readonly grantees: ReadonlySet<string>;
  /** Roles that lack SELECT on some column, so a write by them cannot return all columns. */
  readonly hiddenFrom: ReadonlySet<string>;
  /** Roles for which no policy shows any of its rows, not even an inserted one. */
  readonly closedTo: ReadonlySet<string>;
}

/** A column of the near side and the column of the far side that it must equal. */
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
  /** One-to-one only: true on the referenced side. */
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

/** A computed relationship: a function from one relation's row to rows of another. */
interface ComputedRelationship extends RelationshipEnds {
  readonly kind: 'computed';
  readonly routine: QualifiedName;
  readonly toOne: boolean;
}

export type Relationship = DirectRelationship | JunctionRelationship | ComputedRelationship;

export interface RoutineArgument {
  /** Empty for an unnamed argument. */
  readonly name: string;
  readonly type: string;
  /** The type that a value is bound to: like `type`, but without an implied length such as that of `character`. */
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
  /** The relation whose rows it returns, if any: the request may filter and embed them. */
  readonly relation: QualifiedName | null;
  /** The columns of rows that belong to no relation: OUT, INOUT and TABLE columns. */
  readonly columns: ReadonlyMap<string, Column>;
  /** The declared result type, for media type domains. */
  readonly resultType: QualifiedName;
  /** Milliseconds, if the function sets statement_timeout itself. */
  readonly statementTimeout: string | null;
  /** The isolation level, if the function sets default_transaction_isolation. */
  readonly isolation: string | null;
  /** Roles that may call it, which may see its name; null: all roles. */
  readonly grantees: ReadonlySet<string> | null;
}

/** A media type handler: an aggregate over a row set, or a function that returns a domain. */
export interface MediaHandler {
  readonly mediaType: string;
  /** The Content-Type of the response: `application/octet-stream` for a handler of any type. */
  readonly contentType: string;
  /** The relation whose rows it accepts; null: any. For a domain: the function that returns it. */
  readonly appliesTo: QualifiedName | null;
  /** Null when the function already returns the media type. */
  readonly aggregate: QualifiedName | null;
  /** True when the domain is over bytea. */
  readonly isBinary: boolean;
}

/** A cast of a domain: to JSON, or from text or JSON. */
export interface Representation {
  readonly source: string;
  readonly target: string;
  readonly routine: QualifiedName;
}

export interface Catalog extends CodeTraits {
  /** Changes whenever the content of the catalog changes: part of the names of prepared statements. */
  readonly version: string;
  /** The fingerprint of the schema when the catalog was read. */
  readonly fingerprint: string;
  readonly relations: ReadonlyMap<string, Relation>;
  /** Relationships by the relation they start from (relationKey()). */
  readonly relationships: ReadonlyMap<string, readonly Relationship[]>;
  readonly routines: ReadonlyMap<string, readonly Routine[]>;
  readonly mediaHandlers: readonly MediaHandler[];
  /** Keyed by representationKey(). */
  readonly representations: ReadonlyMap<string, Representation>;
  /** Settings of the project's own roles (ALTER ROLE), by role and name. SET ROLE does not apply them, so each request does. */
  readonly roleSettings: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /**
   * Keyed by schema: types whose text output shows names of the system catalog, such as `regclass`, and types
   * built from them.
   */
  readonly revealingTypes: ReadonlyMap<string, ReadonlySet<string>>;
  /** True if an event trigger announces DDL; otherwise polling finds the changes. */
  readonly announcesDdl: boolean;
}

/** What the code in a project's database may read or change. */
export interface CodeTraits {
  /** True when some function may set response.headers or response.status. */
  readonly setsResponse: boolean;
  /** False when no code in the database can read request settings other than the claims. */
  readonly readsRequest: boolean;
  /** False when no code in the database can keep an advisory lock or a temporary table beyond its transaction. */
  readonly leavesLocks: boolean;
}

/** The key of a relation or routine in the catalog's maps; no name contains a NUL. */
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

/** @param baseType a domain's base type, or the type itself, as format_type() writes it */
export function typeClassOf(baseType: string): TypeClass {
  if (baseType === 'json' || baseType === 'jsonb') return 'json';
  return baseType === 'tsvector' ? 'tsvector' : 'other';
}

/** Number of columns, relationships and functions of a catalog. Each takes about 300 bytes of memory. */
export function catalogSize({ relations, relationships, routines }: Catalog): number {
  let size = relations.size;
  for (const { columns, computed } of relations.values()) size += columns.size + computed.size;
  for (const some of relationships.values()) size += some.length;
  for (const overloads of routines.values()) size += overloads.length;
  return size;
}
