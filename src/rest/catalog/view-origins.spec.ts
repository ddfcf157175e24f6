import { parseViewOrigins } from './view-origins';

const entry = (resno: number, table: number, column: number, expr = '{VAR :varno 1}'): string =>
  `{TARGETENTRY :expr ${expr} :resno ${resno} :resname c :ressortgroupref 0 :resorigtbl ${table} :resorigcol ${column} :resjunk false}`;

const query = (entries: string, more = ''): string =>
  `({QUERY :commandType 1 :rtable (${more}) :targetList (${entries}) :override 0 :returningList <>})`;

describe('parseViewOrigins', () => {
  it('reads position, relation and column of each entry', () => {
    expect(parseViewOrigins(query(`${entry(1, 16390, 2)} ${entry(2, 16391, 1)}`))).toEqual([
      { position: 1, relation: '16390', column: 2 },
      { position: 2, relation: '16391', column: 1 },
    ]);
  });

  it('leaves expressions out', () => {
    expect(parseViewOrigins(query(entry(1, 0, 0)))).toEqual([]);
  });

  it('reads the outermost query only', () => {
    const inner = query(entry(9, 99, 9)).slice(1, -1);
    expect(
      parseViewOrigins(query(entry(1, 5, 6, `{SUBLINK :subselect ${inner}}`), `{RTE :subquery ${inner}}`)),
    ).toEqual([{ position: 1, relation: '5', column: 6 }]);
  });

  it('is not misled by names that contain the format’s own characters', () => {
    const odd = entry(1, 7, 8).replace(':resname c', ':resname a\\)\\}\\(\\{b\\ :resorigtbl\\ 1');
    expect(parseViewOrigins(query(odd))).toEqual([{ position: 1, relation: '7', column: 8 }]);
  });

  it('finds nothing in a text that is not a query', () => {
    for (const text of ['', '()', '<>', '({', '({QUERY', ':targetList ('])
      expect(parseViewOrigins(text)).toEqual([]);
  });
});
