/** The answer that the client gets for each kind of DatabaseFault. */
import { AppError } from '../../common/errors/app-error';
import { DatabaseFault, DatabaseFaultKind } from '../../common/errors/database-fault';

/** Status, code, SQLSTATE and headers. */
type FaultAnswer = readonly [number, string, string, Readonly<Record<string, string>>?];

/** 53300 is PostgreSQL's too_many_connections. @param seconds the value of Retry-After */
const busy = (seconds: number): FaultAnswer => [503, '53300', '53300', { 'Retry-After': String(seconds) }];

const ANSWERS: Readonly<Record<DatabaseFaultKind, FaultAnswer>> = {
  caller_refused: [401, 'unauthorized', 'PL401', { 'WWW-Authenticate': 'Bearer' }],
  second_factor_needed: [403, 'insufficient_aal', 'PL403'],
  no_free_connection: busy(1),
  login_refused: busy(1),
  // A staff member ends a pause, so clients need not retry every second.
  project_paused: [503, 'project_paused', 'PL503', { 'Retry-After': '60' }],
  too_many_streams: busy(2),
  result_too_large: [500, 'result_too_large', 'PL500'],
  unusable_record: [500, 'unusable_record', 'PL500'],
};

export function answerToFault({ kind, message, cause }: DatabaseFault): AppError {
  const [status, code, sqlstate, headers] = ANSWERS[kind];
  return new AppError(status, code, message, { database: { sqlstate }, headers, cause });
}
