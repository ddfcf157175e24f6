import { AppError } from '../../common/errors/app-error';
import { parseCsv } from './csv';

describe('parseCsv', () => {
  const PARSED: [string, string, unknown][] = [
    [
      'plain fields',
      'a,b\n1,2\n3,4',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['CRLF and a last line end', 'a\r\n1\r\n', [{ a: '1' }]],
    ['quotes, commas and line ends inside', 'a,b\n"x,""y""","l1\nl2"', [{ a: 'x,"y"', b: 'l1\nl2' }]],
    ['NULL as null, empty as empty', 'a,b\nNULL,', [{ a: null, b: '' }]],
    ['a header alone', 'a,b\n', []],
  ];
  it.each(PARSED)('reads %s', (_what, text, rows) => {
    expect(parseCsv(text)).toEqual(rows);
  });

  it.each(['', 'a,b\n1\n', 'a\n1,2\n', 'a\n"x', 'a\n"x"y\n'])('refuses %j', (text) => {
    expect(() => parseCsv(text)).toThrow(AppError);
  });
});
