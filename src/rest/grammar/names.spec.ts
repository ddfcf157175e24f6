import { fieldName, identifier } from './names';
import { refusalOf } from '../../../test/support/grammar';
import { Scanner } from './scanner';

function nameIn(text: string): { name: string; rest: string } {
  const scanner = new Scanner(text, { what: 'name' });
  const name = fieldName(scanner);
  return { name, rest: text.slice(scanner.pos) };
}

describe('fieldName', () => {
  it.each([
    ['identifier', 'identifier'],
    ['identifier with spaces', 'identifier with spaces'],
    ['identifier-with-dashes', 'identifier-with-dashes'],
    ['123', '123'],
    ['_', '_'],
    ['$', '$'],
    ['":"', ':'],
    [' no leading or trailing spaces ', 'no leading or trailing spaces'],
    ['" leading and trailing spaces "', ' leading and trailing spaces '],
    ['":arr->ow::cast"', ':arr->ow::cast'],
    ['"(inside,parens)"', '(inside,parens)'],
    ['"a.dotted.column"', 'a.dotted.column'],
    ['"quo\\"ted"', 'quo"ted'],
    ['"back\\\\slash"', 'back\\slash'],
    ['"any \\escaped"', 'any escaped'],
    ['"a-b"', 'a-b'],
    ['هویت', 'هویت'],
    ['नाम', 'नाम'],
    ['größe_Ω', 'größe_Ω'],
    ['𝒳', '𝒳'],
    ['"😀"', '😀'],
    ['a - b', 'a-b'],
  ])('reads %s', (text, name) => {
    expect(nameIn(text)).toEqual({ name, rest: '' });
  });

  it.each([
    ['id,name', 'id', ',name'],
    ['data->a', 'data', '->a'],
    ['a-b->c', 'a-b', '->c'],
    ['clients(id)', 'clients', '(id)'],
    ['id::text', 'id', '::text'],
    ['"a"b', 'a', 'b'],
    ['a😀', 'a', '😀'],
  ])('stops in %s', (text, name, rest) => {
    expect(nameIn(text)).toEqual({ name, rest });
  });

  it.each([
    [':', 1, 'unexpected ":" expecting field name (* or [a..z0..9_$])'],
    ['', 1, 'unexpected end of input expecting field name (* or [a..z0..9_$])'],
    ['-a', 1, 'unexpected "-" expecting field name (* or [a..z0..9_$])'],
    ['a-', 3, 'unexpected end of input expecting letter or digit'],
    ['a--b', 3, 'unexpected "-" expecting letter or digit'],
    ['""', 2, 'unexpected """ expecting a quoted name of at least one character'],
    ['"open', 6, 'unexpected end of input expecting a quoted name of at least one character'],
    ['"open\\', 7, 'unexpected end of input expecting a quoted name of at least one character'],
  ])('refuses %j at column %i', (text, column, details) => {
    expect(refusalOf(() => nameIn(text))).toEqual({
      code: 'PL100',
      message: `"failed to parse name (${text})" (line 1, column ${column})`,
      details,
    });
  });
});

describe('identifier', () => {
  it.each([
    ['double precision', 'double precision', ''],
    [' int4 ', 'int4', ''],
    ['text)', 'text', ')'],
    ['a-b', 'a', '-b'],
  ])('reads %j', (text, name, rest) => {
    const scanner = new Scanner(text, { what: 'cast' });
    expect(identifier(scanner, ['letter'])).toBe(name);
    expect(text.slice(scanner.pos)).toBe(rest);
  });

  it('is never empty', () => {
    const scanner = new Scanner('  ', { what: 'cast' });
    expect(refusalOf(() => identifier(scanner, ['letter', 'digit'])).details).toBe(
      'unexpected end of input expecting letter or digit',
    );
  });
});
