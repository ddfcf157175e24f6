import { AppError } from '../../common/errors/app-error';
import { parseCsv as parse } from './csv';

/** With unlimited memory. */
const parseCsv = (text: string) => parse(text, { grow: () => undefined });

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
    ['blank lines as nothing', 'a\n\n1\r\n\r\n""\n2\n\n', [{ a: '1' }, { a: '2' }]],
    ['blank lines between many fields as nothing', 'a,b\n\n1,2\n', [{ a: '1', b: '2' }]],
    ['the last of several columns with one name', 'a,b,a\n1,2,3', [{ b: '2', a: '3' }]],
    ['names and values that JSON escapes', 'a"\\\n"x\t""y\\"', [{ 'a"\\': 'x\t"y\\' }]],
    ['a header alone', 'a,b\n', []],
  ];
  it.each(PARSED)('reads %s', async (_what, text, rows) => {
    const { json, count } = await parseCsv(text);
    expect(JSON.parse(json.toString())).toEqual(rows);
    expect(count).toBe((rows as unknown[]).length);
  });

  it('gives each name once', async () => {
    const { names, json } = await parseCsv('a,b,a\n1,2,3');
    expect(names).toEqual(['a', 'b']);
    expect(json.toString()).toBe('[{"b":"2","a":"3"}]');
  });

  it('reads a body correctly when it yields in the middle', async () => {
    const field = '""'.repeat(100_000);
    const { json, count } = await parseCsv(`a\n${`"${field}"\n`.repeat(3)}${'1\n'.repeat(100_001)}`);
    expect(count).toBe(100_004);
    expect(JSON.parse(json.toString())).toEqual([
      ...Array.from({ length: 3 }, () => ({ a: '"'.repeat(100_000) })),
      ...Array.from({ length: 100_001 }, () => ({ a: '1' })),
    ]);
  });

  it.each(['', ','.repeat(10_000), 'a,b\n1\n', 'a\n1,2\n', 'a\n"x', 'a\n"x"y\n'])(
    'refuses %j',
    async (text) => {
      await expect(parseCsv(text)).rejects.toThrow(AppError);
    },
  );

  it('reads long fields without splitting surrogate pairs', async () => {
    const long = `${'x'.repeat(65_535)}😀${'"é\n'.repeat(40_000)}`;
    const plain = `${'y'.repeat(131_071)}😀${'z'.repeat(65_536)}`;
    const { json } = await parseCsv(
      `a,b,c\n"${long.replaceAll('"', '""')}",${plain},NULL\n1,${plain}\n`.replace('\n1,', '\n1,2,'),
    );
    expect(JSON.parse(json.toString())).toEqual([
      { a: long, b: plain, c: null },
      { a: '1', b: '2', c: plain },
    ]);
    expect(json.toString()).not.toMatch(/\\ud83d/i);
  });

  it('refuses a name that no column has', async () => {
    await expect(parseCsv(`${'n'.repeat(100_000)}\n1\n`)).rejects.toThrow('too long a name');
  });

  it('counts the header names that each row repeats before joining them', async () => {
    const [name, rows] = ['n'.repeat(60_000), 500];
    let counted = 0;
    const grow = (bytes: number) => {
      counted += bytes;
      if (counted > 1_000_000) throw new Error('no more');
    };
    await expect(parse(`${name}\n${'1\n'.repeat(rows)}`, { grow })).rejects.toThrow('no more');
    expect(counted).toBeLessThan(rows * name.length);
  });
});
