/**
 * A plan: the work for all requests of one shape, naming only objects of the catalog. The compile stage turns
 * it into SQL. It holds slots instead of values (grammar/query-values.ts), because it serves requests of other
 * callers too. Its aliases are generated, never the client's.
 */
import type {
  Column,
  MediaHandler,
  QualifiedName,
  Relation,
  Routine,
  RoutineArgument,
} from '../catalog/catalog';
import type { Aggregate, LogicOperator, NullsOrder, OrderDirection } from '../grammar/operators';
import type { PlanOption } from '../grammar/rest-request';
import type { JsonStep, Operation } from '../grammar/tree';

/** A value of a row: a column, a computed field, or a path into one. */
export interface FieldPlan {
  readonly base:
    | { readonly kind: 'column'; readonly name: string }
    | { readonly kind: 'computed'; readonly routine: QualifiedName };
  readonly path: readonly JsonStep[];
  /** True when the path needs to_jsonb() first: composites and arrays. */
  readonly toJsonb: boolean;
  readonly isTsvector: boolean;
  /** Conversion from text to the column's domain, for filter values. */
  readonly parse: QualifiedName | null;
}

export type ConditionPlan =
  | {
      readonly kind: 'filter';
      readonly field: FieldPlan;
      readonly negated: boolean;
      readonly operation: Operation;
    }
  | {
      readonly kind: 'group';
      readonly operator: LogicOperator;
      readonly negated: boolean;
      readonly terms: readonly ConditionPlan[];
    }
  /** Whether an embed has any rows. */
  | { readonly kind: 'embed'; readonly embed: string; readonly toOne: boolean; readonly isNull: boolean };

export interface OrderPlan {
  readonly by:
    | { readonly kind: 'field'; readonly field: FieldPlan }
    /** A column that a to-one embed passes to its parent for ordering. */
    | { readonly kind: 'embed'; readonly embed: string; readonly column: string };
  readonly direction: OrderDirection | null;
  readonly nulls: NullsOrder | null;
}

export interface AggregatePlan {
  readonly aggregate: Aggregate;
  readonly cast: string | null;
}

export type OutputPlan =
  /** All columns of the row, without names. */
  | { readonly kind: 'all' }
  | {
      readonly kind: 'field';
      readonly field: FieldPlan;
      /** Conversion from the column's domain to JSON. */
      readonly format: QualifiedName | null;
      readonly cast: string | null;
      readonly aggregate: AggregatePlan | null;
      readonly name: string;
    }
  | { readonly kind: 'row-count'; readonly cast: string | null; readonly name: string }
  /** A constant; it is non-null if the row exists. */
  | { readonly kind: 'one'; readonly name: string }
  | { readonly kind: 'embed'; readonly embed: string; readonly toOne: boolean; readonly name: string }
  /** A column of a spread embed in its parent; null: all columns. */
  | {
      readonly kind: 'spread';
      readonly embed: string;
      readonly column: string | null;
      /** True for the object or array of a nested embed. */
      readonly isEmbed: boolean;
      readonly aggregate: AggregatePlan | null;
      readonly name: string | null;
    };

/** The source of a read's rows. */
export type SourcePlan =
  | { readonly kind: 'relation'; readonly relation: QualifiedName }
  /** The rows that the request wrote, or that its function returned. */
  | { readonly kind: 'result' }
  /** A computed relationship, called with the parent's row as argument. */
  | {
      readonly kind: 'computed';
      readonly routine: QualifiedName;
      /** The relation whose rows it returns. */
      readonly relation: QualifiedName;
      readonly parent: string;
      readonly parentType: QualifiedName;
    };

export interface JoinColumns {
  readonly left: { readonly alias: string; readonly column: string };
  readonly right: { readonly alias: string; readonly column: string };
}

export interface ReadPlan {
  readonly alias: string;
  readonly source: SourcePlan;
  readonly junction: { readonly relation: QualifiedName; readonly alias: string } | null;
  readonly joins: readonly JoinColumns[];
  readonly outputs: readonly OutputPlan[];
  readonly where: readonly ConditionPlan[];
  readonly order: readonly OrderPlan[];
  readonly limit: number | null;
  readonly offset: number;
  readonly embeds: readonly EmbedPlan[];
}

type EmbedShape = 'object' | 'array' | 'spread-row' | 'spread-columns';

export interface EmbedPlan {
  /** Alias of the lateral join. */
  readonly alias: string;
  readonly shape: EmbedShape;
  readonly inner: boolean;
  readonly read: ReadPlan;
  /** The columns that the client sees, if the read also has columns for ordering; null if it sees all. */
  readonly columns: readonly string[] | null;
}

/** A column that a body writes, with the conversion from JSON to its type. */
export interface WrittenColumn {
  readonly column: Column;
  /** Conversion from JSON to the column's domain. */
  readonly parse: QualifiedName | null;
}

/** The columns that a write returns to the read of its result; with `nothing` the rows are only counted. */
export type ReturningPlan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'all' }
  | { readonly kind: 'fields'; readonly fields: readonly FieldPlan[] };

/** Rows of the body with the same missing columns, which one INSERT writes. */
export interface InsertGroup {
  readonly columns: readonly WrittenColumn[];
  /** Positions in the body, starting at 1; null: all rows. */
  readonly ordinals: readonly number[] | null;
}

export interface InsertPlan {
  readonly kind: 'insert';
  readonly relation: Relation;
  readonly returning: ReturningPlan;
  readonly groups: readonly InsertGroup[];
  readonly conflict: {
    readonly columns: readonly string[];
    readonly action: 'merge' | 'ignore';
  } | null;
  /** PUT: conditions that the body's row must meet to be written; null for POST. */
  readonly only: readonly ConditionPlan[] | null;
}

export interface UpdatePlan {
  readonly kind: 'update';
  readonly relation: Relation;
  readonly returning: ReturningPlan;
  readonly columns: readonly WrittenColumn[];
  /** Columns in `columns=` that the body does not have: `missing=default` sets them to their defaults. */
  readonly defaults: readonly string[];
  readonly where: readonly ConditionPlan[];
}

export interface DeletePlan {
  readonly kind: 'delete';
  readonly relation: Relation;
  readonly returning: ReturningPlan;
  readonly where: readonly ConditionPlan[];
}

export type WritePlan = InsertPlan | UpdatePlan | DeletePlan;

export interface CallPlan {
  readonly routine: Routine;
  readonly returning: ReturningPlan;
  readonly arguments: ArgumentsPlan;
}

export type ArgumentsPlan =
  /** The body is the only, unnamed argument. */
  | { readonly kind: 'body' }
  /** Members of the JSON body, or of the first object in an array. */
  | { readonly kind: 'members'; readonly given: readonly RoutineArgument[]; readonly inList: boolean }
  /** Texts of the query string or of a form; a list where the argument is variadic. */
  | { readonly kind: 'texts'; readonly given: readonly RoutineArgument[] };

/** The form of the rows in the body. */
export type RepresentationPlan =
  | { readonly kind: 'rows'; readonly stripNulls: boolean }
  | { readonly kind: 'object'; readonly stripNulls: boolean }
  | { readonly kind: 'ndjson' }
  | { readonly kind: 'csv' }
  | { readonly kind: 'geojson' }
  | { readonly kind: 'handler'; readonly handler: MediaHandler }
  | {
      readonly kind: 'explain';
      readonly format: 'text' | 'json';
      readonly options: readonly PlanOption[];
      readonly of: RepresentationPlan;
    }
  /** For HEAD, and writes that return nothing. */
  | { readonly kind: 'none' };

type Count = 'exact' | 'planned' | 'estimated';

export interface RenamedEmbed {
  readonly relation: string;
  readonly alias: string;
}

interface AnyPlan {
  readonly representation: RepresentationPlan;
  /** True when the client accepts exactly one row, whether it is returned or not. */
  readonly singular: boolean;
  readonly contentType: string;
  readonly count: Count | null;
  /** With count=estimated: the number of rows above which the planner's estimate is returned. */
  readonly countLimit: number | null;
  readonly read: ReadPlan;
  /** The column names of its rows, in order; empty for single values. */
  readonly columns: readonly string[];
  /** Embeds with an alias whose filters, order or window the request names by the relation. */
  readonly renamed: readonly RenamedEmbed[];
}

export interface ReadRequestPlan extends AnyPlan {
  readonly kind: 'read';
  readonly relation: Relation;
}

/**
 * Whether a write returns its rows. `requested`: the request asks for them. `unrequested`: rows are returned
 * by default, but only if the caller may read them. `withheld`: the caller may not read them, so the response
 * is that of return=minimal.
 */
export type WrittenRows = 'requested' | 'unrequested' | 'withheld';

export interface WriteRequestPlan extends AnyPlan {
  readonly kind: 'write';
  readonly relation: Relation;
  readonly write: WritePlan;
  readonly rows: WrittenRows;
}

export interface CallRequestPlan extends AnyPlan {
  readonly kind: 'call';
  readonly call: CallPlan;
}

export type RequestPlan = ReadRequestPlan | WriteRequestPlan | CallRequestPlan;
