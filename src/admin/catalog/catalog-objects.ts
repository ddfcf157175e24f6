/** The objects of a project's database other than tables, as types and as OpenAPI schemas. */
import * as f from '../../http/model/fields';

const schema = f.text({ example: 'public' });

class CatalogType extends f.model({
  schema,
  name: f.text({ example: 'mood' }),
  kind: f.choice(['enum', 'composite', 'domain', 'range'], { example: 'enum' }),
  labels: f.texts({
    description: 'Labels of an enum, in their order; else none',
    example: ['calm', 'happy'],
  }),
  definition: f.text({
    description: 'Attributes of a composite type, base type of a domain, subtype of a range; else empty',
    example: '',
  }),
}) {}

class CatalogFunction extends f.model({
  schema,
  name: f.text({ example: 'add' }),
  kind: f.choice(['function', 'procedure', 'aggregate', 'window'], { example: 'function' }),
  arguments: f.text({ description: 'Their types, which identify it', example: 'integer, integer' }),
  returns: f.nullable(f.text({ description: 'Null for a procedure', example: 'integer' })),
  language: f.text({ example: 'sql' }),
  definer: f.flag({ description: 'Runs with the privileges of its owner', example: false }),
  definition: f.nullable(
    f.text({
      description: 'The statement that creates or replaces it; null for an aggregate',
      example: 'CREATE OR REPLACE FUNCTION public.add(integer, integer) ...',
    }),
  ),
}) {}

class CatalogTrigger extends f.model({
  schema,
  table: f.text({ example: 'notes' }),
  name: f.text({ example: 'stamp' }),
  enabled: f.flag(),
  definition: f.text({
    description: 'The statement that creates it',
    example: 'CREATE TRIGGER stamp BEFORE UPDATE ON public.notes FOR EACH ROW EXECUTE FUNCTION stamp()',
  }),
}) {}

class CatalogView extends f.model({
  schema,
  name: f.text({ example: 'recent_notes' }),
  materialized: f.flag({ example: false }),
  options: f.texts({ description: 'As `security_invoker=true`', example: ['security_invoker=true'] }),
  definition: f.text({ description: 'The query', example: 'SELECT id FROM notes' }),
}) {}

class CatalogExtension extends f.model({
  name: f.text({ example: 'pg_trgm' }),
  schema: f.nullable(f.text({ description: 'Null: not installed', example: 'extensions' })),
  version: f.nullable(f.text({ description: 'Null: not installed', example: '1.6' })),
  available: f.text({ description: 'The version that is installed by default', example: '1.6' }),
  comment: f.text({ example: 'text similarity measurement and index searching based on trigrams' }),
}) {}

export class CatalogObjects extends f.model({
  types: f.list(CatalogType),
  functions: f.list(CatalogFunction),
  triggers: f.list(CatalogTrigger),
  views: f.list(CatalogView),
  extensions: f.list(CatalogExtension, 'Extensions that the server offers'),
}) {}
