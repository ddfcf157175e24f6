import type { NullsOrder, OrderDirection } from './operators';
import { parseOrder } from './order';
import { refusalOf } from '../../../test/support/grammar';
import type { Field, OrderTerm } from './tree';

const arrow = (key: string, asText = false) => ({ kind: 'key', asText, key }) as const;

function by(
  name: string | Field,
  direction: OrderDirection | null = null,
  nulls: NullsOrder | null = null,
): OrderTerm {
  const field = typeof name === 'string' ? { name, path: [] } : name;
  return { kind: 'field', field, direction, nulls };
}

function byRelated(
  relation: string,
  field: Field,
  direction: OrderDirection | null = null,
  nulls: NullsOrder | null = null,
): OrderTerm {
  return { kind: 'related', relation, field, direction, nulls };
}

const NAME: Field = { name: 'name', path: [] };

describe('parseOrder', () => {
  it.each<[string, OrderTerm[]]>([
    ['id', [by('id')]],
    ['id.asc', [by('id', 'asc')]],
    ['id.desc', [by('id', 'desc')]],
    ['a.nullsfirst', [by('a', null, 'nullsfirst')]],
    ['a.nullslast', [by('a', null, 'nullslast')]],
    ['name.desc.nullsfirst', [by('name', 'desc', 'nullsfirst')]],
    ['client_id.desc.nullslast,id.desc', [by('client_id', 'desc', 'nullslast'), by('id', 'desc')]],
    ['a, b.desc , c', [by('a'), by('b', 'desc'), by('c')]],
    ['"a.b".desc', [by('a.b', 'desc')]],
    ['data->>id.asc', [by({ name: 'data', path: [arrow('id', true)] }, 'asc')]],
    ['data->0.desc', [by({ name: 'data', path: [{ kind: 'index', asText: false, index: 0 }] }, 'desc')]],
    [
      'data->foo->>bar.nullsfirst',
      [by({ name: 'data', path: [arrow('foo'), arrow('bar', true)] }, null, 'nullsfirst')],
    ],
    [
      'json_col->!@#$%^&*_a.asc.nullslast',
      [by({ name: 'json_col', path: [arrow('!@#$%^&*_a')] }, 'asc', 'nullslast')],
    ],
    ['name,clients(name),id', [by('name'), byRelated('clients', NAME), by('id')]],
    ['clients( name ).desc', [byRelated('clients', NAME, 'desc')]],
    [
      'clients(json_col->key).desc.nullsfirst',
      [byRelated('clients', { name: 'json_col', path: [arrow('key')] }, 'desc', 'nullsfirst')],
    ],
    [
      'clients(data->0)',
      [byRelated('clients', { name: 'data', path: [{ kind: 'index', asText: false, index: 0 }] })],
    ],
  ])('reads %s', (text, terms) => {
    expect(parseOrder(text)).toEqual(terms);
  });

  it.each([
    ['id.ac', 4, 'unexpected "c" expecting "asc", "desc", "nullsfirst" or "nullslast"'],
    ['id.descc', 8, 'unexpected \'c\' expecting delimiter (.), "," or end of input'],
    ['id.nulsfist', 4, 'unexpected "n" expecting "asc", "desc", "nullsfirst" or "nullslast"'],
    ['id.nullslasttt', 13, 'unexpected \'t\' expecting "," or end of input'],
    ['id.smth34', 4, 'unexpected "s" expecting "asc", "desc", "nullsfirst" or "nullslast"'],
    ['id.asc.nlsfst', 8, 'unexpected "l" expecting "nullsfirst" or "nullslast"'],
    ['id.asc.nullslasttt', 17, 'unexpected \'t\' expecting "," or end of input'],
    ['id.asc.smth34', 8, 'unexpected "s" expecting "nullsfirst" or "nullslast"'],
    ['id.nullsfirst.desc', 14, 'unexpected \'.\' expecting "," or end of input'],
    ['', 1, 'unexpected end of input expecting field name (* or [a..z0..9_$])'],
    ['id,', 4, 'unexpected end of input expecting field name (* or [a..z0..9_$])'],
    ['clients(name,id)', 13, 'unexpected "," expecting ")"'],
    [
      'id!',
      3,
      'unexpected \'!\' expecting letter, digit, "-", "->>", "->", delimiter (.), "," or end of input',
    ],
    ['id.as', 4, 'unexpected end of input expecting "asc", "desc", "nullsfirst" or "nullslast"'],
  ])('refuses %j at column %i', (text, column, details) => {
    expect(refusalOf(() => parseOrder(text))).toEqual({
      code: 'PL100',
      message: `"failed to parse order (${text})" (line 1, column ${column})`,
      details,
    });
  });
});
