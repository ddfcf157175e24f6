/**
 * The codes by which clients of PostgREST identify an error (its reference, "Errors"): the top-level `code` of the body.
 * `detail.sqlstate` keeps Plinth's own. Null if PostgREST has no code for the case. docs/reference/rest.md lists them all.
 */
import { DatabaseError } from 'pg';
import { type CredentialFault, CredentialsRefused } from '../access/access.errors';
import type { AppError } from '../common/errors/app-error';
import { GRAMMAR_ERRORS, type GrammarErrorCode } from './grammar/grammar-error';
import { REST_ERRORS, type RestErrorCode } from './rest.errors';

type KnownCode = RestErrorCode | GrammarErrorCode | 'PL401' | 'PL404' | 'PL405' | 'PL503';

/** Codes whose number is not the same in PostgREST. */
const OTHERS: Readonly<Partial<Record<KnownCode, string | null>>> = {
  PL157: 'PGRST102',
  PL401: 'PGRST301',
  PL404: null,
  PL405: 'PGRST117',
  PL503: null,
};

/** From PLx50 on, codes are Plinth's own. */
function codeOf(code: KnownCode): string | null {
  const other = OTHERS[code];
  if (other !== undefined) return other;
  return Number(code.slice(3)) < 50 ? code.replace('PL', 'PGRST') : null;
}

const KNOWN = [...Object.keys({ ...REST_ERRORS, ...GRAMMAR_ERRORS, ...OTHERS })] as KnownCode[];

export const POSTGREST_CODES = Object.fromEntries(KNOWN.map((code) => [code, codeOf(code)])) as Readonly<
  Record<KnownCode, string | null>
>;

/** How PostgREST 14 and later distinguish refused tokens. */
export const POSTGREST_CREDENTIAL_CODES: Readonly<Record<CredentialFault, string>> = {
  invalid: 'PGRST301',
  missing: 'PGRST302',
  untimely: 'PGRST303',
};

/** PostgREST's code if the database cannot be reached, or if no connection becomes free in time. */
const UNREACHABLE = 'PGRST000';
const EXHAUSTED = 'PGRST003';

/** The table of codes, indexed by any text. */
const CODES: Readonly<Partial<Record<string, string | null>>> = POSTGREST_CODES;

/** PostgREST's code of an error, or else its SQLSTATE. */
export function postgrestCode(error: AppError): string {
  const { sqlstate = error.code } = error.database;
  if (error instanceof CredentialsRefused) return POSTGREST_CREDENTIAL_CODES[error.fault];
  // An error of PostgreSQL or of the project's own SQL keeps its code.
  if (error.cause instanceof DatabaseError && error.cause.code === sqlstate) return sqlstate;
  if (sqlstate === '08006') return UNREACHABLE;
  if (sqlstate === '53300') return EXHAUSTED;
  return CODES[sqlstate] ?? sqlstate;
}
