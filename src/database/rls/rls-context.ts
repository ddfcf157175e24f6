/** The RLS context: role, claims and session under which a caller's statements run. */
import { ProjectDatabase } from '../pools/project-database';

export interface RlsContext {
  readonly database: ProjectDatabase;
  /** The database role of the request: anon, authenticated, service_role or one that the project granted. */
  readonly role: string;
  /** The bearer's claims as JSON text: the result of auth.jwt(). */
  readonly claims: string;
  /** The session of the access token, checked in the request's own round trip; null for keys and foreign tokens. */
  readonly sessionId: string | null;
  /** Set for a token of one factor if a second factor is required: of users who have enrolled one, or of all users. */
  readonly secondFactor?: 'enrolled' | 'always';
}

/** The context of a key of the project with this role, and of work without a bearer token. */
export const roleContext = (database: ProjectDatabase, role: string): RlsContext => ({
  database,
  role,
  claims: JSON.stringify({ role }),
  sessionId: null,
});

/** Transaction-local settings that a request may add to its context. Names come from this closed list. */
export const CONTEXT_SETTINGS = [
  'request.method',
  'request.path',
  'request.headers',
  'request.cookies',
  'search_path',
  'statement_timeout',
  'plan_cache_mode',
  'transaction_read_only',
  'storage.quota_bytes',
  'storage.quota_files',
] as const;

export type ContextSetting = (typeof CONTEXT_SETTINGS)[number];

export type ContextSettings = Partial<Record<ContextSetting, string>> & {
  /** Isolation level of the transaction; default: that of the database. It must be set before the first query. */
  isolation?: IsolationLevel;
  /** A function of the project is called, which could observe more of an earlier request than its settings. */
  callsFunction?: boolean;
  /** The statements only read, and may run on a replica that has replayed the position. */
  replica?: { readonly after: bigint | null };
  /** Gets the position in the write-ahead log that a replica must have replayed to show the committed changes. */
  onCommitted?: (position: string) => void;
  /** The statements run no code that can leave state in the session, so no release statements are sent after them. */
  leavesNothing?: boolean;
};

export const ISOLATION_LEVELS = [
  'read uncommitted',
  'read committed',
  'repeatable read',
  'serializable',
] as const;
export type IsolationLevel = (typeof ISOLATION_LEVELS)[number];
