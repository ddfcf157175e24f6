/**
 * The codes under which clients of PostgREST know an error (its reference, "Errors"): the top-level `code` of the body.
 * `detail.sqlstate` keeps Plinth's own. Null where PostgREST has no code for the case. docs/rest.md lists them all.
 */
import { DatabaseError } from 'pg';
import { type CredentialFault, CredentialsRefused } from '../access/access.errors';
import type { AppError } from '../common/errors/app-error';
import type { GrammarErrorCode } from './grammar/grammar-error';
import type { RestErrorCode } from './rest.errors';

export const POSTGREST_CODES: Readonly<Record<RestErrorCode | GrammarErrorCode | OtherCode, string | null>> =
  {
    PL100: 'PGRST100',
    PL101: 'PGRST101',
    PL102: 'PGRST102',
    PL103: 'PGRST103',
    PL105: 'PGRST105',
    PL106: 'PGRST106',
    PL107: 'PGRST107',
    PL108: 'PGRST108',
    PL111: 'PGRST111',
    PL112: 'PGRST112',
    PL114: 'PGRST114',
    PL115: 'PGRST115',
    PL116: 'PGRST116',
    PL117: 'PGRST117',
    PL118: 'PGRST118',
    PL120: 'PGRST120',
    PL121: 'PGRST121',
    PL122: 'PGRST122',
    PL124: 'PGRST124',
    PL125: 'PGRST125',
    PL127: 'PGRST127',
    PL128: 'PGRST128',
    PL150: null,
    PL151: null,
    PL152: null,
    PL153: null,
    PL155: null,
    PL156: null,
    PL157: 'PGRST102',
    PL158: null,
    PL159: null,
    PL200: 'PGRST200',
    PL201: 'PGRST201',
    PL202: 'PGRST202',
    PL203: 'PGRST203',
    PL204: 'PGRST204',
    PL205: 'PGRST205',
    PL401: 'PGRST301',
    PL404: null,
    PL405: 'PGRST117',
    PL503: null,
  };

/** Of HTTP itself and of the schema, raised outside of the two catalogs of table REST. */
type OtherCode = 'PL401' | 'PL404' | 'PL405' | 'PL503';

/** As PostgREST 14 and later tell tokens that were refused apart. */
export const POSTGREST_CREDENTIAL_CODES: Readonly<Record<CredentialFault, string>> = {
  invalid: 'PGRST301',
  missing: 'PGRST302',
  untimely: 'PGRST303',
};

/** The database cannot be reached; no connection became free in time. */
const UNREACHABLE = 'PGRST000';
const EXHAUSTED = 'PGRST003';

/** The same for any code. */
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
