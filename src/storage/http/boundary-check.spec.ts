import { BoundaryCheck } from './boundary-check';

const DELIMITER = Buffer.from('\r\n--b1');

/** Whether all pieces pass. */
function passes(pieces: readonly string[]): boolean {
  const check = new BoundaryCheck(DELIMITER);
  return pieces.every((piece) => check.passes(Buffer.from(piece, 'latin1')));
}

describe('BoundaryCheck', () => {
  it.each([
    ['a form', '--b1\r\nA: b\r\n\r\nx\r\n--b1\r\nA: b\r\n\r\n\r\n--b1--\r\n', true],
    ['one without an end', '--b1\r\nA: b\r\n\r\nx', true],
    ['two delimiters that share a line', '--b1\r\n--b1\r\n--b1--', true],
    ['whatever follows the last one', '--b1\r\n\r\n--b1--\r\n--b1x\r\n', true],
    ['what only resembles a delimiter', '--b1\r\n\r\n--b2\r\n\n--b1x\r\n--b\r\n--b1--', true],
    ['a boundary that goes on', '--b1\r\n\r\n\r\n--b1234\r\n--b1--', false],
    ['the first one', '--b1x\r\n\r\n--b1--', false],
    ['blanks behind one', '--b1 \r\n\r\n--b1--', false],
    ['one hyphen behind one', '--b1\r\n\r\n--b1-\r\n', false],
    ['a CR behind one', '--b1\r\n\r\n--b1\r\r\n', false],
  ])('tells %s apart, wherever it is cut', (_case, form, expected) => {
    expect(passes([form])).toBe(expected);
    expect(passes([...form])).toBe(expected);
    for (let a = 0; a <= form.length; a += 1)
      for (let b = a; b <= form.length; b += 1)
        expect(passes([form.slice(0, a), form.slice(a, b), form.slice(b)])).toBe(expected);
  });
});
