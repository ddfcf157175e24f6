/** The catalog of a project's database, as types and as OpenAPI schemas. */
import { INT64 } from '../../http/docs/documented-types';
import * as f from '../../http/model/fields';

const KINDS = ['table', 'view', 'materialized view', 'foreign table'] as const;
const COMMANDS = ['ALL', 'SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
class CatalogColumn extends f.model({
  name: f.text({ example: 'id' }),
  type: f.text('As PostgreSQL prints it: `character varying(20)`', { example: 'bigint' }),
  category: f.text('`typcategory` of pg_type: `N` for numbers, `E` for enums', { example: 'N' }),
  nullable: f.flag(),
  default: f.nullable.text('The expression'),
  always: f.flag('An identity or generated column that clients may not write'),
  labels: f.nullable.texts('Labels of an enum, or of the enum of an array'),
  comment: f.nullable.text(),
}) {}

class CatalogForeignKey extends f.model({
  name: f.text({ example: 'orders_pkey' }),
  columns: f.texts(),
  schema: f.text('Schema of the referenced table'),
  table: f.text('The referenced table'),
  targets: f.texts('Referenced columns, in the order of `columns`'),
  definition: f.text('As PostgreSQL prints it', {
    example: 'FOREIGN KEY (customer_id) REFERENCES customers(id) ON DELETE CASCADE',
  }),
}) {}

class CatalogIndex extends f.model({
  name: f.text({ example: 'orders_pkey' }),
  definition: f.text('The statement that creates it', {
    example: 'CREATE UNIQUE INDEX orders_pkey ON public.orders USING btree (id)',
  }),
  constraint: f.nullable.text('The key or constraint that it belongs to'),
}) {}

class CatalogPolicy extends f.model({
  name: f.text({ example: 'orders_pkey' }),
  command: f.choice(COMMANDS),
  permissive: f.flag(),
  roles: f.texts({ example: ['authenticated'] }),
  using: f.nullable.text('The expression'),
  check: f.nullable.text('The expression'),
}) {}

export class CatalogRelation extends f.model({
  schema: f.text({ example: 'public' }),
  name: f.text({ example: 'notes' }),
  kind: f.choice(KINDS, { example: 'table' }),
  comment: f.nullable.text({ example: null }),
  rows: f.whole('Estimate of the planner; -1 before the first ANALYZE', {
    ...INT64,
    minimum: -1,
    example: 1200,
  }),
  bytes: f.size('With its indexes', { example: 131072 }),
  rls: f.flag('Row-level security is on'),
  columns: f.list(CatalogColumn),
  primary_key: f.texts({ example: ['id'] }),
  foreign_keys: f.list(CatalogForeignKey, { example: [] }),
  indexes: f.list(CatalogIndex),
  policies: f.list(CatalogPolicy),
}) {}
