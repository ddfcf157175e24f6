/** Responses about a project's database, as types and as OpenAPI schemas. */
import { Example } from '../../../http/docs/example.decorator';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

class SqlStatement extends model({
  command: f.nullable(f.text({ example: 'INSERT' })),
  row_count: f.nullable(f.size('Rows that were returned or changed')),
}) {}

class SqlResult extends model(SqlStatement, {
  columns: f.texts(
    'Names of the columns in their order. One that occurs again gets a number, in the rows as well: `count`, `count_2`.',
  ),
  rows: f.optional(
    f.field<readonly Record<string, unknown>[]>({
      type: 'array',
      items: { type: 'object', additionalProperties: true },
      description:
        'Rows of the statement, if the request has `all_results`. Those of the last statement are in the `rows` of the response.',
    }),
  ),
  truncated: f.optional(f.flag('The statement returned more rows than the response holds')),
}) {}

@Example({
  command: 'SELECT',
  row_count: 1,
  rows: [{ id: 1, title: 'Try Plinth' }],
  truncated: false,
  statements: [{ command: 'SELECT', row_count: 1, columns: ['id', 'title'] }],
  notices: [],
})
export class SqlResponse extends model(SqlStatement, {
  rows: f.field<readonly Record<string, unknown>[]>({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Rows of the last statement',
  }),
  truncated: f.flag('The last statement returned more rows than the response holds'),
  statements: f.list(SqlResult, 'Each statement that ran'),
  notices: f.texts('Notices and warnings, such as those of RAISE NOTICE'),
}) {}
