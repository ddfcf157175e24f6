/** A table of a project, as a type and as an OpenAPI schema. */
import { INT64 } from '../../http/docs/documented-types';
import * as f from '../../http/model/fields';
import { model } from '../../http/model/model';

export class TableResponse extends model({
  schema: f.text({ example: 'public' }),
  name: f.text({ example: 'notes' }),
  rls_enabled: f.flag(),
  rls_forced: f.flag({ description: "Row-level security applies to the tables' owner too", example: false }),
  policies: f.whole({ minimum: 0, description: 'Number of policies', example: 2 }),
  open: f.flag({
    description:
      'Row-level security is off, and anon or authenticated may read or write: accessible with the anon key',
    example: false,
  }),
  estimated_rows: f.whole({
    ...INT64,
    minimum: -1,
    description: 'Estimate of the planner; -1 before the first ANALYZE',
    example: 1200,
  }),
}) {}
