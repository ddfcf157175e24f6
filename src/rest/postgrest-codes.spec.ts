import { DatabaseError } from 'pg';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  invalidCredentials,
  missingApiKey,
  missingBearer,
  untimelyCredentials,
} from '../access/access.errors';
import { AppError, httpError } from '../common/errors/app-error';
import { DatabaseFault } from '../common/errors/database-fault';
import { answerToFault } from '../http/errors/fault-answers';
import { GRAMMAR_ERRORS } from './grammar/grammar-error';
import { POSTGREST_CODES, POSTGREST_CREDENTIAL_CODES, postgrestCode } from './postgrest-codes';
import { REST_ERRORS, restError, type RestErrorCode } from './rest.errors';

const PAGE = readFileSync(join(__dirname, '../../docs/reference/rest.md'), 'utf8');
/** Rows of the table of codes: Plinth's, PostgREST's, the status. */
const ROWS = new Map(
  [...PAGE.matchAll(/^\| (PL\d{3}) \| (PGRST[0-9, PGRST]+|–) \| ([\d, ]+) \|/gm)].map(
    ([, code, theirs, status]) => [code as string, { theirs: theirs as string, status: status as string }],
  ),
);

const fromDatabase = (code: string): AppError =>
  new AppError(400, code, 'raised', {
    database: { sqlstate: code },
    cause: Object.assign(new DatabaseError('raised', 6, 'error'), { code }),
  });

describe('PostgREST’s code', () => {
  const own = Object.keys(REST_ERRORS) as RestErrorCode[];

  it.each(own)('of %s is listed for it', (code) => {
    expect(postgrestCode(restError(code, { message: 'x' }))).toBe(POSTGREST_CODES[code] ?? code);
  });

  it.each([...new Set([...own, ...Object.keys(GRAMMAR_ERRORS)])])(
    'of %s has the same number, or none, and is documented with its status',
    (code) => {
      const theirs = (POSTGREST_CODES as Record<string, string | null | undefined>)[code];
      expect(theirs).not.toBeUndefined();
      const sameNumber = code.replace('PL', 'PGRST');
      // A media type that is not supported is an invalid body to PostgREST.
      expect([null, sameNumber, code === 'PL157' ? 'PGRST102' : sameNumber]).toContain(theirs);
      const errors: Record<string, { status: number } | undefined> = { ...GRAMMAR_ERRORS, ...REST_ERRORS };
      expect(ROWS.get(code)?.theirs).toBe(theirs ?? '–');
      expect(ROWS.get(code)?.status.split(', ')).toContain(String(errors[code]?.status));
    },
  );

  it.each(Object.entries(POSTGREST_CODES))(
    'of %s, which is %s, is in the table of docs/reference/rest.md',
    (code, theirs) => {
      expect(ROWS.get(code)?.theirs.split(', ')).toContain(theirs ?? '–');
    },
  );

  it('distinguishes missing, invalid and untimely credentials', () => {
    expect(
      [missingApiKey(), missingBearer(), invalidCredentials(), untimelyCredentials()].map(postgrestCode),
    ).toEqual(['PGRST302', 'PGRST302', 'PGRST301', 'PGRST303']);
    expect(ROWS.get('PL401')?.theirs).toBe(Object.values(POSTGREST_CREDENTIAL_CODES).join(', '));
  });

  it('exists for a database that cannot be reached, and for a pool without a free connection', () => {
    const unreachable = new AppError(503, 'service_unavailable', 'away', { database: { sqlstate: '08006' } });
    const exhausted = answerToFault(new DatabaseFault('no_free_connection', 'busy'));
    expect([postgrestCode(unreachable), postgrestCode(exhausted)]).toEqual(['PGRST000', 'PGRST003']);
    expect(PAGE).toMatch(/\| 08006 \| PGRST000 \| 503 \|/);
    expect(PAGE).toMatch(/\| 53300 \| PGRST003 \| 503 \|/);
  });

  it.each(['23505', '42501', '53300', '08006', 'P0001', 'PT418', 'PL116', 'PL401', 'ABCDE'])(
    'is SQLSTATE %s itself if the database raised it',
    (code) => {
      expect(postgrestCode(fromDatabase(code))).toBe(code);
    },
  );

  it('is the code of HTTP errors for which PostgREST has no code', () => {
    expect(postgrestCode(httpError(413, 'x'))).toBe('PL413');
  });
});
