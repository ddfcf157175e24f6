/** DatabaseFault to the answer that the client gets, by kind. */
import { AppError, AppErrorOptions } from '../../common/errors/app-error';
import { DatabaseFault, DatabaseFaultKind } from '../../common/errors/database-fault';

interface FaultAnswer extends Pick<AppErrorOptions, 'status' | 'code' | 'headers'> {
  readonly sqlstate: string;
}

/** 53300 is PostgreSQL's too_many_connections. @param seconds for Retry-After */
const busy = (seconds: number): FaultAnswer => ({
  status: 503,
  code: '53300',
  sqlstate: '53300',
  headers: { 'Retry-After': String(seconds) },
});

/** A staff member ends a pause, so clients need not retry every second. */
const PAUSED_RETRY_SECONDS = 60;

const ANSWERS: Readonly<Record<DatabaseFaultKind, FaultAnswer>> = {
  caller_refused: {
    status: 401,
    code: 'unauthorized',
    sqlstate: 'PL401',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  second_factor_needed: { status: 403, code: 'insufficient_aal', sqlstate: 'PL403' },
  no_free_connection: busy(1),
  login_refused: busy(1),
  project_paused: {
    status: 503,
    code: 'project_paused',
    sqlstate: 'PL503',
    headers: { 'Retry-After': String(PAUSED_RETRY_SECONDS) },
  },
  too_many_streams: busy(2),
  result_too_large: { status: 500, code: 'result_too_large', sqlstate: 'PL500' },
  unusable_record: { status: 500, code: 'unusable_record', sqlstate: 'PL500' },
};

export function answerToFault({ kind, message, cause }: DatabaseFault): AppError {
  const { sqlstate, ...answer } = ANSWERS[kind];
  return new AppError({ ...answer, message, database: { sqlstate }, cause });
}
