import { costOfParsing, cpuTime, longestHold } from '../../../test/support/event-loop';
import {
  commandOf,
  locationInScript,
  mayHaveMoreStatements,
  splitStatements,
  withoutStrings,
} from './sql-statements';

const textsOf = async (script: string): Promise<string[]> =>
  (await splitStatements(script)).map(({ text }) => text);

describe('splitStatements()', () => {
  it.each([
    ['nothing', '', []],
    ['only comments', ' -- one;\n/* two; /* nested; */ */ ;; ', []],
    ['several statements', 'select 1; select 2;\nselect 3', ['select 1', 'select 2', 'select 3']],
    ['a comment that a carriage return ends', 'select 1 -- a;\r; commit', ['select 1 -- a;\r', 'commit']],
    ['strings', `select ';', 'it''s;'; select 2`, [`select ';', 'it''s;'`, 'select 2']],
    ['a backslash in a plain string', String.raw`select '\'; select 2`, [String.raw`select '\'`, 'select 2']],
    ['an escape string', String.raw`select E'\';'; select 2`, [String.raw`select E'\';'`, 'select 2']],
    ['a word that ends with e before a string', `select date'x'; select 2`, [`select date'x'`, 'select 2']],
    ['quoted names', 'select 1 as "a;""b"; select 2', ['select 1 as "a;""b"', 'select 2']],
    ['dollar quotes', 'do $$ a; b $$; do $x$ $$; $x$', ['do $$ a; b $$', 'do $x$ $$; $x$']],
    ['a dollar inside of a name', 'select a$b$; select 2', ['select a$b$', 'select 2']],
    ['parameters', 'select $1; select 2', ['select $1', 'select 2']],
    ['comments inside', 'select 1 -- a;\n, 2 /* ; */; select 3', ['select 1 -- a;\n, 2 /* ; */', 'select 3']],
    [
      'parentheses',
      'create rule r as on insert to t do (a; b); select 2',
      ['create rule r as on insert to t do (a; b)', 'select 2'],
    ],
    ['an open string', `select 'a; b`, [`select 'a; b`]],
    ['an open comment', 'select 1 /* ; select 2', ['select 1 /* ; select 2']],
    ['an open dollar quote', 'do $a$ ; $$ ; ', ['do $a$ ; $$ ; ']],
    [
      'characters beyond the basic plane',
      `select '\u{1f418}' \u{1f418}; select 2`,
      [`select '\u{1f418}' \u{1f418}`, 'select 2'],
    ],
  ])('reads %s', async (_what, script, texts) => {
    expect(await textsOf(script)).toEqual(texts);
  });

  it('keeps the body of an SQL function in one statement', async () => {
    const body = 'begin atomic; select case when true then 1 end; select 2; end';
    for (const head of ['create function f() returns int', 'CREATE OR REPLACE PROCEDURE f()']) {
      expect(await textsOf(`${head} ${body}; select 3`)).toEqual([`${head} ${body}`, 'select 3']);
    }
    expect(await textsOf('begin; select 1; end')).toEqual(['begin', 'select 1', 'end']);
  });

  it('takes time proportional to the length of any script', async () => {
    const timeOf = async (script: string): Promise<number> =>
      (await cpuTime(() => splitStatements(script))).used;
    for (const piece of ["select 'a''b', $1; ", '/* ', '$a', "'", "E'\\", '( ', 'x ']) {
      const short = await timeOf(piece.repeat(20_000));
      let long = Infinity;
      // Quadratic time would take sixteen times as long. Garbage collection may affect any of three tries.
      const limit = 12 * Math.max(short, 5);
      for (let round = 0; round < 3 && long >= limit; round += 1)
        long = Math.min(long, await timeOf(piece.repeat(80_000)));
      expect(long).toBeLessThan(limit);
    }
  });

  it('blocks the event loop for a fraction of the time that a megabyte takes', async () => {
    const limit = costOfParsing() / 3;
    for (const piece of ['a ', 'a;', ';', '/**/', '/* ']) {
      const script = piece.repeat(1_000_000 / piece.length);
      let held = Infinity;
      for (let round = 0; round < 3 && held >= limit; round += 1)
        held = Math.min(held, (await longestHold(() => splitStatements(script))).held);
      expect([piece, held < limit]).toEqual([piece, true]);
    }
  });

  it('stops at the first statement beyond the limit', async () => {
    expect(await splitStatements('a; b; c; d', 2)).toHaveLength(3);
    expect(await splitStatements('a; b; ;', 2)).toHaveLength(2);
    expect(mayHaveMoreStatements('a; b', 2)).toBe(false);
    expect(mayHaveMoreStatements('a; b;', 2)).toBe(true);
  });
});

describe('locationInScript()', () => {
  it('counts lines and characters from the beginning of the script', async () => {
    const script = `-- \u{1f418}\n/* \u{1f418} */ select '\u{1f418}' as a,\n  b; select c`;
    const [first, second] = await splitStatements(script);
    if (!first || !second) throw new Error('two statements expected');
    const positionOf = (text: string, part: string): number =>
      [...text.slice(0, text.indexOf(part))].length + 1;
    expect(locationInScript(script, first, 1)).toEqual({ line: 2, column: 9 });
    expect(locationInScript(script, first, positionOf(first.text, 'as'))).toEqual({ line: 2, column: 20 });
    expect(locationInScript(script, first, positionOf(first.text, 'b'))).toEqual({ line: 3, column: 3 });
    expect(locationInScript(script, second, 1)).toEqual({ line: 3, column: 6 });
  });
});

it('gives the first words of a statement, without words in quotes and comments', async () => {
  const [first, second] = await splitStatements(
    `PREPARE /* a */ Transaction 'b'; create "t" (a int, b int, c int)`,
  );
  expect([first?.words, second?.words]).toEqual([
    ['prepare', 'transaction'],
    ['create', 'a', 'int', 'b'],
  ]);
});

describe('commandOf()', () => {
  it('gives the first word', async () => {
    const statements = await splitStatements('/* a */ COMMIT; "x"; rollback');
    const commands = statements.map((one) => commandOf(one));
    expect(commands).toEqual(['commit', '', 'rollback']);
  });
});

describe('a script without its strings', () => {
  it.each([
    ["alter role x password 'secret'", "alter role x password '…'"],
    [`insert into "a""b" values (E'it\\'s', 7, U&'x')`, `insert into "a""b" values ('…', 7, U&'…')`],
    ['do $body$ begin secret; end $body$', 'do $$…$$'],
    ['select 1 /* secret /* nested */ */ -- secret\n  , 2;', 'select 1 , 2;'],
    ["select 'never ends", "select '…'"],
    ['select $$never ends', 'select $$…$$'],
    ['/* never ends', ''],
    [String.raw`select 'it\'s secret', 1`, "select '…' …"],
  ])('%s is %s', (script, text) => {
    expect(withoutStrings(script, 100)).toBe(text);
  });

  it('is truncated, and does not show a string that is cut off', () => {
    expect(withoutStrings(`select '${'s'.repeat(100)}'`, 20)).toBe("select '…' …");
    expect(withoutStrings('select a😀', 9)).toBe('select a …');
  });
});
