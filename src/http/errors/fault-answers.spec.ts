import { DatabaseFault, DatabaseFaultKind } from '../../common/errors/database-fault';
import { answerToFault } from './fault-answers';

const CAUSE = new Error('the reason, for the log');

it.each<[DatabaseFaultKind, number, string, string, Record<string, string>]>([
  ['caller_refused', 401, 'unauthorized', 'PL401', { 'WWW-Authenticate': 'Bearer' }],
  ['second_factor_needed', 403, 'insufficient_aal', 'PL403', {}],
  ['no_free_connection', 503, '53300', '53300', { 'Retry-After': '1' }],
  ['login_refused', 503, '53300', '53300', { 'Retry-After': '1' }],
  ['project_paused', 503, 'project_paused', 'PL503', { 'Retry-After': '60' }],
  ['too_many_streams', 503, '53300', '53300', { 'Retry-After': '2' }],
  ['result_too_large', 500, 'result_too_large', 'PL500', {}],
  ['unusable_record', 500, 'unusable_record', 'PL500', {}],
])('%s is answered with %i %s', (kind, status, code, sqlstate, headers) => {
  const answer = answerToFault(new DatabaseFault(kind, 'what happened', CAUSE));
  expect(answer).toMatchObject({ status, code, message: 'what happened', database: { sqlstate }, headers });
  expect([answer.cause, Object.keys(answer.headers)]).toEqual([CAUSE, Object.keys(headers)]);
});
