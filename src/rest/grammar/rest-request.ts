/**
 * The parsed request: the query's tree (tree.ts) and the parts of the head. Nothing here is checked against a
 * catalog or a project's settings.
 */
import type { Method } from './operators';
import type { QueryValues } from './query-values';
import type { RestQuery, Window } from './tree';

/** Headers as Node returns them: names in lower case; a list for a header that may occur more than once. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type TargetKind = 'table' | 'rpc';

/** The input of parseRestRequest(): nothing is decoded yet, so that bad encoding is refused in one place. */
export interface RawRestRequest {
  readonly method: string;
  /** The one path segment after `/rest/v1/` or `/rest/v1/rpc/`, still percent-encoded. */
  readonly target: string;
  readonly kind: TargetKind;
  /** With or without its leading `?`, still percent-encoded. */
  readonly queryString: string;
  readonly headers: RequestHeaders;
}

/** The output of the parse stage. */
export interface ParsedRequest {
  readonly shape: RequestShape;
  readonly values: QueryValues;
}

/** The whole request, except the values of its filters, arguments and body. */
export interface RequestShape {
  readonly kind: TargetKind;
  readonly method: Method;
  readonly target: Target;
  readonly query: RestQuery;
  /** Root level: `limit`/`offset` and, for GET, the Range header, intersected. */
  readonly window: Window;
  readonly preferences: Preferences;
  /** Best first; `[any]` without an Accept header, empty if the client excludes all types that it names. */
  readonly accept: readonly MediaType[];
  /** Type of the request's body; JSON when the header is absent. */
  readonly contentType: MediaType;
  /** Accept-Profile for GET, HEAD and OPTIONS, Content-Profile for the others; null when absent. */
  readonly profile: string | null;
}

/** `/rest/v1/api.orders`: a name may contain a dot, so this lists all ways to read it, whole name first. */
export interface Target {
  readonly text: string;
  readonly candidates: readonly TargetName[];
}

export interface TargetName {
  /** null: the schema given by a profile header or the project's default. */
  readonly schema: string | null;
  readonly name: string;
}

/** RFC 7240 preferences; null if absent. If a preference is repeated, the first one counts. */
export interface Preferences {
  readonly return: 'representation' | 'minimal' | 'headers-only' | null;
  readonly resolution: 'merge-duplicates' | 'ignore-duplicates' | null;
  readonly missing: 'default' | 'null' | null;
  readonly count: 'exact' | 'planned' | 'estimated' | null;
  readonly tx: 'commit' | 'rollback' | null;
  readonly handling: 'strict' | 'lenient' | null;
  /** The server that a read uses. */
  readonly read: 'primary' | 'replica' | null;
  /** The time zone as the client wrote it; PostgreSQL refuses an unknown one. */
  readonly timezone: string | null;
  readonly maxAffected: number | null;
  /** Unknown preferences, as written: a reason to refuse the request under `handling=strict`. */
  readonly unknown: readonly string[];
}

export type PlanOption = 'analyze' | 'verbose' | 'settings' | 'buffers' | 'wal';

/** Media types whose parameters are ignored. */
export type SimpleMediaKind =
  | 'json'
  | 'ndjson'
  | 'csv'
  | 'geojson'
  | 'text'
  | 'xml'
  | 'openapi'
  | 'form'
  | 'octet-stream'
  | 'any'
  /** `application/vnd.pgrst.array+json;nulls=stripped`; without the parameter it is `json`. */
  | 'stripped-array';

export type MediaType =
  | { readonly kind: SimpleMediaKind }
  /** `application/vnd.pgrst.object+json`, `;nulls=stripped` */
  | { readonly kind: 'object'; readonly stripNulls: boolean }
  /** `application/vnd.pgrst.plan+json; for="text/csv"; options=analyze|verbose`; `for` is never a plan itself. */
  | {
      readonly kind: 'plan';
      readonly format: 'text' | 'json';
      readonly for: MediaType;
      readonly options: readonly PlanOption[];
    }
  /** Any other type, in lower case up to its parameters, for media type handlers: `image/png`. */
  | { readonly kind: 'other'; readonly type: string };
