/**
 * The typed tree of a query string: built by the parsers of this folder, read by the plan stage. It holds slots
 * instead of the values of filters (query-values.ts). Names are unquoted and decoded, but not checked: the plan
 * stage finds out whether a table, column, cast, language or relation exists. The head of the request (Prefer,
 * Accept, Range, target) is in rest-request.ts.
 */
import type {
  Aggregate,
  IsValue,
  JoinType,
  LogicOperator,
  NullsOrder,
  OrderDirection,
  PlainOperator,
  QuantifiableOperator,
  Quantifier,
  TextSearchOperator,
} from './operators';
import type { Slot } from './query-values';

/** One step into a JSON value, a composite or an array: `data->foo`, `data->>0`, `data->-1`. */
export type JsonStep = JsonKeyStep | JsonIndexStep;

/** Example: `/json_arr?select=data->0->>a`. `asText` is true for the double arrow. */
interface JsonKeyStep {
  readonly kind: 'key';
  readonly asText: boolean;
  readonly key: string;
}

/** Example: `/json_arr?data->>-1=eq.3`. Always fits PostgreSQL's int4. */
interface JsonIndexStep {
  readonly kind: 'index';
  readonly asText: boolean;
  readonly index: number;
}

/** A column, or something inside it. Example: `settings->foo->>bar` */
export interface Field {
  readonly name: string;
  readonly path: readonly JsonStep[];
}

/**
 * Names of embeds from the root down; an embed with an alias is named by it. Empty for the root. Example:
 * `clients.projects.name`
 */
export type EmbedPath = readonly string[];

/** A condition or setting of one level in the tree of embeds. */
export interface AtPath<Node> {
  readonly path: EmbedPath;
  readonly node: Node;
}

export type SelectItem = SelectStar | SelectField | SelectRowCount | SelectEmbed | SelectSpread;

/** `select=*`: all columns. A column that is itself called `*` is written `"*"` and is a field. */
interface SelectStar {
  readonly kind: 'star';
}

/** Example: `/project_invoices?select=total:invoice_total::numeric.sum()::text,project_id` */
export interface SelectField {
  readonly kind: 'field';
  readonly field: Field;
  /**
   * Cast of the column, before any aggregate. Letters, digits, `_`, `$` and spaces; the plan stage checks the
   * type.
   */
  readonly cast: string | null;
  readonly aggregate: Aggregate | null;
  /** Cast of the aggregate's result; null if there is none. */
  readonly aggregateCast: string | null;
  readonly alias: string | null;
}

/** `count()` without a column. Example: `/entities?select=n:count()::text` */
export interface SelectRowCount {
  readonly kind: 'row-count';
  readonly cast: string | null;
  readonly alias: string | null;
}

/**
 * Example: `/projects?select=id,customer:clients!project_client!inner(id,name)`; `clients()` has an empty
 * `select`.
 */
export interface SelectEmbed {
  readonly kind: 'embed';
  readonly relation: string;
  readonly alias: string | null;
  readonly hint: string | null;
  /** Null stands for PostgREST's default, a left join. */
  readonly join: JoinType | null;
  readonly select: readonly SelectItem[];
}

/** Example: `/projects?select=id,...clients(client_name:name)`. A spread has no alias. */
export interface SelectSpread {
  readonly kind: 'spread';
  readonly relation: string;
  readonly hint: string | null;
  readonly join: JoinType | null;
  readonly select: readonly SelectItem[];
}

/** The text to the right of `=` (or of the column's dot inside `and`/`or`), without `not.`. */
export type Operation =
  | QuantifiedOperation
  | PlainOperation
  | InOperation
  | IsOperation
  | TextSearchOperation;

/**
 * `eq.5`, `like.*yan`, `eq(any).{1,2}`: with a quantifier the value is the text of a PostgreSQL array. `*` is
 * kept.
 */
export interface QuantifiedOperation {
  readonly kind: 'quantified';
  readonly operator: QuantifiableOperator;
  readonly quantifier: Quantifier | null;
  readonly value: Slot;
}

/** `neq.5`, `cs.{1,2}`, `isdistinct.3` */
export interface PlainOperation {
  readonly kind: 'plain';
  readonly operator: PlainOperator;
  readonly value: Slot;
}

/** `in.(1,2,"a,b")`, whose value is a list; `in.()` has an empty list and matches nothing. */
export interface InOperation {
  readonly kind: 'in';
  readonly operator: 'in';
  readonly value: Slot;
}

/**
 * `is.null`, `is.NOT_NULL`, and Plinth's `is.not.null`, which is `not_null`. On an embed's name it is a null
 * filter.
 */
interface IsOperation {
  readonly kind: 'is';
  readonly operator: 'is';
  readonly keyword: IsValue;
}

/** `fts.cat`, `wfts(english).fat rat` */
export interface TextSearchOperation {
  readonly kind: 'text-search';
  readonly operator: TextSearchOperator;
  readonly language: string | null;
  readonly value: Slot;
}

/** Example: `/entities?arr=not.cs.{1,2}`. The field can also name an embed: `/projects?clients=not.is.null` */
export interface Filter {
  readonly kind: 'filter';
  readonly field: Field;
  readonly negated: boolean;
  readonly operation: Operation;
}

/** Example: `/entities?or=(id.eq.1,not.and(name.eq.x,id.in.(2,3)))`. Never without terms. */
export interface LogicGroup {
  readonly kind: 'group';
  readonly operator: LogicOperator;
  readonly negated: boolean;
  readonly terms: readonly LogicTree[];
}

export type LogicTree = Filter | LogicGroup;

export type OrderTerm = OrderByField | OrderByRelated;

/** Example: `/items?order=data->>id.desc.nullslast,name` */
interface OrderByField {
  readonly kind: 'field';
  readonly field: Field;
  readonly direction: OrderDirection | null;
  readonly nulls: NullsOrder | null;
}

/** Orders by a column of a to-one embed. */
interface OrderByRelated {
  readonly kind: 'related';
  readonly relation: string;
  readonly field: Field;
  readonly direction: OrderDirection | null;
  readonly nulls: NullsOrder | null;
}

/** `limit=3&offset=2`: non-negative safe integers; a limit of null means no limit. */
export interface Window {
  readonly limit: number | null;
  readonly offset: number;
}

/**
 * A parameter of a function called with GET or HEAD: a filter on the result if it has the form of a filter,
 * else an argument, whose text is in QueryValues.arguments. Example: `/rpc/getitemrange?min=2&max=4` has two
 * parameters whose `filter` is null, `/rpc/getproject?id=eq.1` one with a filter.
 */
export interface CallParameter {
  /** The last part of the parameter's name, unquoted: the name of an argument. */
  readonly name: string;
  readonly filter: AtPath<Filter> | null;
}

export interface RestQuery {
  /** `[star]` when the parameter is absent or empty. */
  readonly select: readonly SelectItem[];
  /** True when the client wrote `select`, which distinguishes the default from a written `*`. */
  readonly selectGiven: boolean;
  /** `id=eq.1`, `clients.name=like.A*`, joined by AND on each level. The filters in `callParameters` are not included. */
  readonly filters: readonly AtPath<Filter>[];
  /** `or=(...)`, `clients.not.and=(...)`, joined by AND with the filters of their level. */
  readonly logic: readonly AtPath<LogicGroup>[];
  /** At most one per level: the first that the client wrote. */
  readonly order: readonly AtPath<readonly OrderTerm[]>[];
  /** At most one per level: limit and offset together; the last value counts, as in PostgREST. */
  readonly windows: readonly AtPath<Window>[];
  /** `columns=id,name`, without duplicates; null when absent. */
  readonly columns: readonly string[] | null;
  /** `on_conflict=id,name`; null when absent. */
  readonly onConflict: readonly string[] | null;
  /** Empty unless the request calls a function with GET or HEAD. */
  readonly callParameters: readonly CallParameter[];
  /** A text that is equal for two queries if and only if they differ only in values. */
  readonly text: string;
}
