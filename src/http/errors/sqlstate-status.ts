/**
 * SQLSTATE to HTTP status (PostgreSQL manual, appendix A; PostgREST reference, "Errors"). Exact codes
 * first, then classes. PostgreSQL has no other classes: a code outside them was raised by the project's own SQL.
 */

const STATUS_BY_SQLSTATE: Readonly<Record<string, number>> = {
  '23503': 409, // foreign_key_violation
  '23505': 409, // unique_violation
  '23P01': 409, // exclusion_violation
  '25006': 405, // read_only_sql_transaction
  '42501': 403, // insufficient_privilege, and a row-level security policy that refused
  '42883': 404, // undefined_function
  '42P01': 404, // undefined_table
  '42703': 400, // undefined_column
  '42P17': 500, // invalid_object_definition: infinite recursion in a policy
  '57014': 500, // query_canceled: the statement timeout
  P0001: 400, // raise_exception
  '3F000': 404, // invalid_schema_name
  '53300': 503, // too_many_connections
  '53400': 500, // configuration_limit_exceeded: a limit that the role, or a function for itself, was given
  '57P01': 503, // admin_shutdown
  '57P02': 503, // crash_shutdown
  '57P03': 503, // cannot_connect_now
};

const STATUS_BY_CLASS: Readonly<Record<string, number>> = {
  '08': 503, // connection exception
  '09': 500, // triggered action exception
  '0L': 403, // invalid grantor
  '0P': 403, // invalid role specification
  '21': 500, // cardinality violation: a sub-query of a view or function gave several rows
  '22': 400, // data exception
  '23': 400, // integrity constraint violation otherwise (not null, check)
  '25': 500, // invalid transaction state
  '28': 403, // invalid authorization specification
  '2D': 500, // invalid transaction termination
  '38': 500, // external routine exception
  '39': 500, // external routine invocation exception
  '3B': 500, // savepoint exception
  '40': 500, // transaction rollback
  '42': 400, // syntax error or access rule violation otherwise
  '44': 400, // WITH CHECK OPTION violation
  '53': 503, // insufficient resources
  '54': 500, // program limit exceeded
  '55': 500, // object not in prerequisite state
  '57': 500, // operator intervention
  '58': 500, // system error
  F0: 500, // configuration file error
  HV: 500, // foreign data wrapper error
  P0: 500, // PL/pgSQL error
  PT: 500, // PostgREST's PTxyz, where xyz is no status
  XX: 500, // internal error
};

/** The status of P0001, which RAISE uses by default. */
const RAISED = 400;

/** The HTTP status for the SQLSTATE of a statement that the client composed: it names the table, function and values. */
export function statusOfSqlstate(sqlstate: string): number {
  return STATUS_BY_SQLSTATE[sqlstate] ?? STATUS_BY_CLASS[sqlstate.slice(0, 2)] ?? RAISED;
}

/** Errors that the request caused: by a policy, a value, a constraint, or an exception of the project's own trigger. */
const CAUSED_BY_REQUEST = /^(42501|P0001|22|23|44|53|57P|40)/;

/** Classes with which Plinth's own statements fail for a conflicting request (40), or for a value too long for an index (54). */
const OWN_STATUS_BY_CLASS: Readonly<Record<string, number>> = { '40': 409, '54': 400 };

/**
 * The HTTP status for the SQLSTATE of one of Plinth's own statements (accounts, files). Errors that the request did not
 * cause, such as a missing table, are 500.
 */
export function statusOfOwnStatement(sqlstate: string): number {
  if (!CAUSED_BY_REQUEST.test(sqlstate)) return 500;
  return OWN_STATUS_BY_CLASS[sqlstate.slice(0, 2)] ?? statusOfSqlstate(sqlstate);
}
