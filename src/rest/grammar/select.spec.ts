import { refusalOf } from '../../../test/support/grammar';
import { parseSelect } from './select';
import type { SelectEmbed, SelectField, SelectItem, SelectRowCount, SelectSpread } from './tree';

const STAR: SelectItem = { kind: 'star' };

function column(name: string, more: Partial<SelectField> = {}): SelectField {
  const plain = { cast: null, aggregate: null, aggregateCast: null, alias: null };
  return { kind: 'field', field: { name, path: [] }, ...plain, ...more };
}

function embed(relation: string, select: SelectItem[], more: Partial<SelectEmbed> = {}): SelectEmbed {
  return { kind: 'embed', relation, alias: null, hint: null, join: null, select, ...more };
}

function spread(relation: string, select: SelectItem[], more: Partial<SelectSpread> = {}): SelectSpread {
  return { kind: 'spread', relation, hint: null, join: null, select, ...more };
}

function rowCount(more: Partial<SelectRowCount> = {}): SelectRowCount {
  return { kind: 'row-count', cast: null, alias: null, ...more };
}

const arrow = (name: string) => ({ kind: 'key', asText: false, key: name }) as const;

describe('parseSelect', () => {
  it.each<[string, SelectItem[]]>([
    ['', []],
    ['*', [STAR]],
    ['"*"', [column('*')]],
    ['id', [column('id')]],
    ['id, name ,size', [column('id'), column('name'), column('size')]],
    ['*, id', [STAR, column('id')]],
    ['Just A Server Model', [column('Just A Server Model')]],
    ['field-with_sep', [column('field-with_sep')]],
    ['"  col  w  space  "', [column('  col  w  space  ')]],
    ['name::cast', [column('name', { cast: 'cast' })]],
    ['price::double precision', [column('price', { cast: 'double precision' })]],
    ['alias:name', [column('name', { alias: 'alias' })]],
    ['"my: alias":name', [column('name', { alias: 'my: alias' })]],
    ['myId:id::text', [column('id', { alias: 'myId', cast: 'text' })]],
    ['name->jsonpath', [column('name', { field: { name: 'name', path: [arrow('jsonpath')] } })]],
    [
      'alias:name->!@#$%^&*_a::cast',
      [
        column('name', {
          alias: 'alias',
          cast: 'cast',
          field: { name: 'name', path: [arrow('!@#$%^&*_a')] },
        }),
      ],
    ],
  ])('reads columns: %s', (text, items) => {
    expect(parseSelect(text)).toEqual(items);
  });

  it.each<[string, SelectItem[]]>([
    ['amount.sum()', [column('amount', { aggregate: 'sum' })]],
    ['amount.avg()', [column('amount', { aggregate: 'avg' })]],
    [
      'amount.min(),amount.max()',
      [column('amount', { aggregate: 'min' }), column('amount', { aggregate: 'max' })],
    ],
    ['id.count()', [column('id', { aggregate: 'count' })]],
    ['amount.sum()::text', [column('amount', { aggregate: 'sum', aggregateCast: 'text' })]],
    ['amount::numeric.sum()', [column('amount', { aggregate: 'sum', cast: 'numeric' })]],
    [
      'total:amount::numeric.sum()::text,project_id',
      [
        column('amount', { alias: 'total', cast: 'numeric', aggregate: 'sum', aggregateCast: 'text' }),
        column('project_id'),
      ],
    ],
    [
      'data->age.max()',
      [column('data', { field: { name: 'data', path: [arrow('age')] }, aggregate: 'max' })],
    ],
    ['count()', [rowCount()]],
    ['n:count()::text', [rowCount({ alias: 'n', cast: 'text' })]],
    ['count', [column('count')]],
    ['count.sum()', [column('count', { aggregate: 'sum' })]],
    ['"count"()', [embed('count', [])]],
  ])('reads aggregates: %s', (text, items) => {
    expect(parseSelect(text)).toEqual(items);
  });

  it.each<[string, SelectItem[]]>([
    ['client(id)', [embed('client', [column('id')])]],
    ['*,client(*,nested(*))', [STAR, embed('client', [STAR, embed('nested', [STAR])])]],
    ['rel()', [embed('rel', [])]],
    ['id,rel( )', [column('id'), embed('rel', [])]],
    ['alias:rel(*)', [embed('rel', [STAR], { alias: 'alias' })]],
    ['rel!hint(*)', [embed('rel', [STAR], { hint: 'hint' })]],
    ['rel!inner(*)', [embed('rel', [STAR], { join: 'inner' })]],
    ['rel!left(*)', [embed('rel', [STAR], { join: 'left' })]],
    ['rel!hint!inner(*)', [embed('rel', [STAR], { hint: 'hint', join: 'inner' })]],
    ['alias:rel!inner!hint(*)', [embed('rel', [STAR], { alias: 'alias', hint: 'hint', join: 'inner' })]],
    ['rel!leftover_fk(*)', [embed('rel', [STAR], { hint: 'leftover_fk' })]],
    ['rel!"inner"(*)', [embed('rel', [STAR], { hint: 'inner' })]],
    ['counts(*)', [embed('counts', [STAR])]],
    ['"my rel!"(*)', [embed('my rel!', [STAR])]],
    [
      'clients(data->0)',
      [
        embed('clients', [
          column('data', { field: { name: 'data', path: [{ kind: 'index', asText: false, index: 0 }] } }),
        ]),
      ],
    ],
    ['...rel(*)', [spread('rel', [STAR])]],
    ['...rel!hint!inner(*)', [spread('rel', [STAR], { hint: 'hint', join: 'inner' })]],
    ['*,...client(*),other(*)', [STAR, spread('client', [STAR]), embed('other', [STAR])]],
    ['client(...a(...b(id)))', [embed('client', [spread('a', [spread('b', [column('id')])])])]],
    [
      'clients(id.count(),n:count())',
      [embed('clients', [column('id', { aggregate: 'count' }), rowCount({ alias: 'n' })])],
    ],
    [
      'id, name, clients(*), tasks( id , name )',
      [
        column('id'),
        column('name'),
        embed('clients', [STAR]),
        embed('tasks', [column('id'), column('name')]),
      ],
    ],
    ['clients(*))', [embed('clients', [STAR])]],
    ["projects(count)'", [embed('projects', [column('count')])]],
  ])('reads embeds: %s', (text, items) => {
    expect(parseSelect(text)).toEqual(items);
  });

  it.each([
    [
      'id,clients(name[])',
      16,
      'unexpected \'[\' expecting letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input',
    ],
    ['data->>-78xy', 11, 'unexpected \'x\' expecting digit, "->", "::", ".", "," or end of input'],
    ['data->>--34', 9, 'unexpected "-" expecting digit'],
    [
      'data->(!@#$%^&*_d->>!@#$%^&*_e::integer',
      7,
      'unexpected "(" expecting "-", digit or any non reserved character different from: .,>()',
    ],
    ['*!hint', 2, 'unexpected \'!\' expecting ")", "," or end of input'],
    ['name::', 7, 'unexpected end of input expecting letter or digit'],
    ['id,', 4, 'unexpected end of input expecting field name (* or [a..z0..9_$])'],
    [',id', 1, 'unexpected "," expecting field name (* or [a..z0..9_$])'],
    ['name!hint', 10, 'unexpected end of input expecting "("'],
    ['rel(id', 7, 'unexpected end of input expecting ")" or ","'],
    ['rel(id)x', 8, 'unexpected \'x\' expecting "," or end of input'],
    [
      'rel->jsonpath(*)',
      14,
      'unexpected \'(\' expecting letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input',
    ],
    ['alias:...rel(*)', 7, 'unexpected "." expecting field name (* or [a..z0..9_$])'],
    ['id.median()', 4, 'unexpected "m" expecting "sum", "avg", "count", "max" or "min"'],
    ['id.sum', 7, 'unexpected end of input expecting "()"'],
    ['id::text::int', 9, 'unexpected \':\' expecting letter, digit, ".", ")", "," or end of input'],
    [
      'count(*)',
      6,
      'unexpected \'(\' expecting letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input',
    ],
    ['rel!a!b!c(*)', 8, 'unexpected "!" expecting "("'],
  ])('refuses %s at column %i', (text, at, details) => {
    expect(refusalOf(() => parseSelect(text))).toEqual({
      code: 'PL100',
      message: `"failed to parse select parameter (${text})" (line 1, column ${at})`,
      details,
    });
  });

  it('counts columns in characters, not in code units', () => {
    expect(refusalOf(() => parseSelect('"😀😀",id[]')).message).toContain('(line 1, column 8)');
  });

  it('shows only the start of a long text', () => {
    const { message } = refusalOf(() => parseSelect(`${'a'.repeat(5_000)}!`));
    expect(message).toMatch(/^"failed to parse select parameter \(a{300}…\)" \(line 1, column 5002\)$/);
  });

  it('accepts 30 levels of embeds and refuses more', () => {
    const nested = (depth: number) => `${'a('.repeat(depth)}id${')'.repeat(depth)}`;
    expect(parseSelect(nested(30))).toHaveLength(1);
    expect(refusalOf(() => parseSelect(nested(31))).code).toBe('PL152');
  });

  it('accepts 100 embeds and 1,600 columns and refuses more', () => {
    expect(parseSelect(Array(100).fill('a()').join())).toHaveLength(100);
    expect(refusalOf(() => parseSelect(Array(101).fill('a()').join())).code).toBe('PL153');
    expect(parseSelect(Array(1_600).fill('a').join())).toHaveLength(1_600);
    expect(refusalOf(() => parseSelect(Array(1_601).fill('a').join())).code).toBe('PL153');
  });
});
