/** The request that runs SQL. */
import { NotContains } from 'class-validator';
import { Example } from '../../../http/docs/example.decorator';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

@Example({ query: 'create table notes (id bigint primary key, title text)', timeout_seconds: 60 })
export class SqlDto extends model({
  query: f.text({ min: 1, checks: [NotContains('\0')] }),
  timeout_seconds: f.optional(
    f.whole({ minimum: 1, maximum: 3_600, description: 'Seconds after which the SQL is ended; default: 60' }),
  ),
  max_rows: f.optional(
    f.whole({
      minimum: 1,
      maximum: 100_000,
      description: 'Maximum number of rows of a statement in the response; default: 10000',
    }),
  ),
  all_results: f.optional(
    f.flag('Also returns the rows of the statements before the last one, in `statements`; default: false'),
  ),
  text_values: f.optional(
    f.flag(
      'Answers numbers, arrays and JSON as text, too, for clients whose JSON parser rounds large numbers; default: false',
    ),
  ),
}) {}
