import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { isConnectionLoss } from './connection-loss';

const system = (code: string, syscall: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

const database = (code: string): Error => Object.assign(new DatabaseError('said', 4, 'error'), { code });

describe('a lost connection', () => {
  it.each([
    ['ENOENT', 'connect'],
    ['EACCES', 'connect'],
    ['EAGAIN', 'connect'],
    ['EMFILE', 'connect'],
    ['EADDRNOTAVAIL', 'connect'],
    ['ECONNREFUSED', 'connect'],
    ['ECONNRESET', 'read'],
    ['ECONNABORTED', 'read'],
    ['EPIPE', 'write'],
    ['ETIMEDOUT', 'connect'],
    ['EHOSTUNREACH', 'connect'],
    ['ENETUNREACH', 'connect'],
    ['ENOTFOUND', 'getaddrinfo'],
    ['EAI_AGAIN', 'getaddrinfo'],
  ])('is %s of %s', (code, syscall) => {
    expect(isConnectionLoss(system(code, syscall))).toBe(true);
    expect(isConnectionLoss(new QueryFailedError('select', [], system(code, syscall)))).toBe(true);
    expect(isConnectionLoss(new AggregateError([system(code, syscall)]))).toBe(true);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'timeout expired',
    'timeout exceeded when trying to connect',
  ])('is the driver’s "%s"', (message) => {
    expect(isConnectionLoss(new Error(message))).toBe(true);
    expect(isConnectionLoss(new QueryFailedError('select', [], new Error(message)))).toBe(true);
  });

  it.each(['08006', '53300', '57P01', '57P03'])('is SQLSTATE %s of a statement of Plinth’s own', (code) => {
    expect(isConnectionLoss(new QueryFailedError('select', [], database(code)))).toBe(true);
  });

  it.each([
    ['a missing file', system('ENOENT', 'open')],
    ['a read-only file', system('EACCES', 'open')],
    ['a full disk', system('ENOSPC', 'write')],
    ['too many open files', system('EMFILE', 'open')],
    ['a bug', new TypeError('x is not a function')],
    ['a broken constraint', new QueryFailedError('select', [], database('23505'))],
    ['a value that is not an error', 'ECONNREFUSED'],
  ])('is not %s', (_name, thrown) => {
    expect(isConnectionLoss(thrown)).toBe(false);
  });
});
