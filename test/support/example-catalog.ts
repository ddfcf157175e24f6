/** A small schema as the catalog is read from a database, for tests that need none: clients, their projects, odd names. */
import type { CatalogRows, ColumnRow, RelationRow } from '../../src/rest/catalog/catalog-rows';

const column = (position: number, name: string, type = 'integer', hasDefault = false): ColumnRow => [
  position,
  name,
  type,
  type,
  type,
  true,
  hasDefault,
];
const relation = (oid: string, name: string, columns: ColumnRow[]): RelationRow => ({
  oid,
  schema: 'public',
  name,
  kind: 'r',
  is_partition: false,
  updatable: 28,
  action: null,
  columns,
  grantees: ['anon'],
});

export const EXAMPLE_ROWS: CatalogRows = {
  fingerprint: 'f',
  announcesDdl: true,
  setsResponse: false,
  relations: [
    relation('1', 'clients', [column(1, 'id'), column(2, 'name', 'text')]),
    relation('2', 'projects', [
      column(1, 'id', 'integer', true),
      column(2, 'name', 'text'),
      column(3, 'client_id'),
      column(4, 'data', 'jsonb'),
    ]),
    relation('3', 'a.b', [column(1, ':p0')]),
  ],
  constraints: [
    {
      name: 'clients_pkey',
      type: 'p',
      relation: '1',
      foreign_relation: '0',
      columns: [1],
      foreign_columns: null,
      inherited: false,
    },
    {
      name: 'projects_pkey',
      type: 'p',
      relation: '2',
      foreign_relation: '0',
      columns: [1],
      foreign_columns: null,
      inherited: false,
    },
    {
      name: 'client',
      type: 'f',
      relation: '2',
      foreign_relation: '1',
      columns: [3],
      foreign_columns: [1],
      inherited: false,
    },
  ],
  routines: [],
  handlers: [],
  representations: [],
  roles: [],
};
