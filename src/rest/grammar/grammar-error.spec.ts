import { GRAMMAR_ERRORS, GrammarError, type GrammarErrorCode } from './grammar-error';
import { parseRestRequest } from './parse-rest-request';
import { refusalOf } from '../../../test/support/grammar';
import type { RawRestRequest } from './rest-request';

/** A request for each code: proves that every listed code can occur. */
const EXAMPLES: Readonly<Record<GrammarErrorCode, Partial<RawRestRequest>>> = {
  PL100: { queryString: 'id=0' },
  PL101: { kind: 'rpc', method: 'PUT' },
  PL103: { queryString: 'limit=-1' },
  PL114: { method: 'PUT', queryString: 'limit=1' },
  PL117: { method: 'TRACE' },
  PL125: { target: '' },
  PL150: { queryString: 'id=eq.%ff' },
  PL151: { target: 'a'.repeat(2_000) },
  PL152: { queryString: `select=${'a('.repeat(40)}` },
  PL153: { queryString: `select=${'a,'.repeat(2_000)}` },
};

describe('GRAMMAR_ERRORS', () => {
  it.each(Object.entries(GRAMMAR_ERRORS))('%s has five characters and a meaning', (code, { meaning }) => {
    expect(code).toMatch(/^PL\d{3}$/);
    expect(meaning).toMatch(/\.$/);
  });

  it.each(Object.keys(EXAMPLES) as GrammarErrorCode[])('%s can occur', (code) => {
    const bare = { method: 'GET', target: 'items', kind: 'table', queryString: '', headers: {} } as const;
    expect(refusalOf(() => parseRestRequest({ ...bare, ...EXAMPLES[code] })).code).toBe(code);
  });
});

describe('GrammarError', () => {
  it('has the status of its code', () => {
    const error = new GrammarError({ code: 'PL103', message: 'no', details: 'why' });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      status: 416,
      message: 'no',
      database: { sqlstate: 'PL103', detail: 'why', hint: null },
    });
  });
});
