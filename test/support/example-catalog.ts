/**
 * The catalog of a small schema (clients, projects, unusual names) for tests without a database. The schema itself is in
 * example-schema.ts; an integration test checks that the two agree.
 */
import { catalogSteps } from '../../src/rest/catalog/build-catalog';
import type { Catalog } from '../../src/rest/catalog/catalog';
import type { CatalogRows, ColumnRow, RelationRow, RoutineRow } from '../../src/rest/catalog/catalog-rows';

const column = (
  position: number,
  name: string,
  type = 'integer',
  { nullable = true, hasDefault = false } = {},
): ColumnRow => [position, name, type, type, type, nullable, hasDefault];
const relation = (oid: string, name: string, columns: ColumnRow[]): RelationRow => ({
  oid,
  schema: 'public',
  name,
  kind: 'r',
  is_partition: false,
  updatable: 28,
  columns,
  grantees: ['anon'],
});
/** Named arguments of a function that every role may call. */
const routine = (
  name: string,
  types: readonly (readonly [name: string, type: string])[],
  rest: Pick<RoutineRow, 'default_count' | 'volatility'> & Partial<RoutineRow>,
): RoutineRow => ({
  schema: 'public',
  name,
  names: types.map(([argument]) => argument),
  modes: null,
  types: types.map(([, type]) => type),
  output: null,
  variadic: false,
  returns_set: false,
  single_row: true,
  result_schema: 'pg_catalog',
  result_name: 'text',
  base_name: 'text',
  is_composite: false,
  result_relation: null,
  argument_relation: null,
  statement_timeout: null,
  isolation: null,
  grantees: null,
  ...rest,
});

export const EXAMPLE_ROWS: CatalogRows = {
  fingerprint: 'f',
  announcesDdl: true,
  setsResponse: false,
  readsRequest: true,
  leavesLocks: true,
  relations: [
    relation('1', 'clients', [column(1, 'id', 'integer', { nullable: false }), column(2, 'name', 'text')]),
    relation('2', 'projects', [
      column(1, 'id', 'integer', { nullable: false, hasDefault: true }),
      column(2, 'name', 'text'),
      column(3, 'client_id'),
      column(4, 'data', 'jsonb'),
    ]),
    relation('3', 'a.b', [column(1, ':p0')]),
  ],
  views: [],
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
  routines: [
    routine(
      'projects_of',
      [
        ['client', 'integer'],
        ['named', 'text'],
      ],
      {
        default_count: 1,
        volatility: 's',
        returns_set: true,
        single_row: false,
        result_schema: 'public',
        result_name: 'projects',
        base_name: 'projects',
        is_composite: true,
        result_relation: '2',
      },
    ),
    routine(
      'rename_client',
      [
        ['client', 'integer'],
        ['new_name', 'text'],
      ],
      { default_count: 0, volatility: 'v' },
    ),
  ],
  handlers: [],
  representations: [],
  roles: [],
  withheld: [],
  revealing: [],
};

/** Builds the catalog of a small schema synchronously. */
export function catalogOf(rows: CatalogRows): Catalog {
  const steps = catalogSteps(rows);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
