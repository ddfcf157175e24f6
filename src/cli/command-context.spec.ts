import { list, table } from './command-context';

describe('table', () => {
  it('aligns columns, numbers to the right', () => {
    expect(
      table([
        { name: 'a', rows: 10 },
        { name: 'longer', rows: 7 },
      ]),
    ).toBe(['name    rows', '------  ----', 'a         10', 'longer     7', ''].join('\n'));
  });

  it('prints a line when there are no rows', () => expect(table([])).toBe('(no rows)\n'));

  it('accepts rows with different keys', () => {
    expect(table([{ a: 1 }, { b: null }])).toBe('a  b\n-  -\n1\n\n');
  });

  it('removes control characters', () => {
    expect(table([{ a: '\u001b[2J\n\u009b' }])).toBe('a\n------\n [2J\n');
  });
});

describe('list', () => {
  it('aligns the values', () =>
    expect(list({ id: 'x', settings: { a: 1 } })).toBe('id        x\nsettings  {"a":1}\n'));
});
