/** A table of a project, as a type and as an OpenAPI schema. */
import { INT64 } from '../../http/docs/documented-types';
import * as f from '../../http/model/fields';

export class TableResponse extends f.model({
  schema: f.text({ example: 'public' }),
  name: f.text({ example: 'notes' }),
  rls_enabled: f.flag(),
  rls_forced: f.flag("Row-level security applies to the tables' owner too", { example: false }),
  policies: f.whole('Number of policies', { minimum: 0, example: 2 }),
  open: f.flag(
    'Row-level security is off, and anon or authenticated may read or write: accessible with the anon key',
    { example: false },
  ),
  estimated_rows: f.whole('Estimate of the planner; -1 before the first ANALYZE', {
    ...INT64,
    minimum: -1,
    example: 1200,
  }),
}) {}
