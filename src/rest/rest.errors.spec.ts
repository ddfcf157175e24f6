import { GRAMMAR_ERRORS } from './grammar/grammar-error';
import { REST_ERRORS } from './rest.errors';

describe('the codes of table REST', () => {
  const own = Object.keys(REST_ERRORS);
  const grammar = Object.keys(GRAMMAR_ERRORS);

  it('have five characters beginning with PL', () => {
    for (const code of [...own, ...grammar]) expect(code).toMatch(/^PL\d{3}$/);
  });

  it('have the same status in both lists if both have them', () => {
    for (const [code, { status }] of Object.entries(REST_ERRORS)) {
      const other = (GRAMMAR_ERRORS as Record<string, { status: number } | undefined>)[code];
      if (other) expect([code, other.status]).toEqual([code, status]);
    }
  });
});
