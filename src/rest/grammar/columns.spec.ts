import { parseColumns } from './names';
import { refusalOf } from '../../../test/support/grammar';

describe('parseColumns', () => {
  it.each([
    ['id', ['id']],
    ['id,body', ['id', 'body']],
    ['id , body', ['id', 'body']],
    ['id,"a,b"', ['id', 'a,b']],
    ['id,body,id', ['id', 'body']],
    ['field-with_sep', ['field-with_sep']],
  ])('reads %s', (text, names) => {
    expect(parseColumns('columns', text)).toEqual(names);
    expect(parseColumns('on_conflict', text)).toEqual(names);
  });

  it.each([
    ['', 1, 'unexpected end of input expecting field name (* or [a..z0..9_$])'],
    ['helicopters,', 13, 'unexpected end of input expecting field name (* or [a..z0..9_$])'],
    ['id->a', 3, 'unexpected \'-\' expecting "," or end of input'],
  ])('refuses %j at column %i', (text, column, details) => {
    expect(refusalOf(() => parseColumns('columns', text))).toEqual({
      code: 'PL100',
      message: `"failed to parse columns parameter (${text})" (line 1, column ${column})`,
      details,
    });
  });
});
