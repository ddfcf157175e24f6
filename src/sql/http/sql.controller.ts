/** Platform administration: SQL as the owner of a project's database. */
import { Controller, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { DatabaseError } from 'pg';
import { Actor } from '../../install/audit/audit-log.repository';
import { SqlRequests } from '../sql-requests.service';
import { StaffApi, CurrentActor, CurrentStaff } from '../../staff/http/staff-api.decorator';
import type { StaffCaller } from '../../staff/roles/staff';
import { stepUpRequired } from '../../staff/staff.errors';
import { AppError } from '../../common/errors/app-error';
import { answerJson } from '../answer-json';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { clientLeft } from '../../http/client-left';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { SqlErrors, SQL_FAILURES, SERVER_FAILURE } from './sql-error-docs';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import { ArrayMaxSize, IsArray, NotContains, ValidateBy } from 'class-validator';
import * as f from '../../http/model/fields';

class SqlStatement extends f.model({
  command: f.nullable.text({ example: 'INSERT' }),
  row_count: f.nullable.size('Rows that were returned or changed'),
}) {}

class SqlResult extends f.model(SqlStatement, {
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
  truncated: f.optional.flag('The statement returned more rows than the response holds'),
}) {}

@f.Example({
  command: 'SELECT',
  row_count: 1,
  rows: [{ id: 1, title: 'Try Plinth' }],
  truncated: false,
  statements: [{ command: 'SELECT', row_count: 1, columns: ['id', 'title'] }],
  notices: [],
})
class SqlResponse extends f.model(SqlStatement, {
  rows: f.field<readonly Record<string, unknown>[]>({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Rows of the last statement',
  }),
  truncated: f.flag('The last statement returned more rows than the response holds'),
  statements: f.list(SqlResult, 'Each statement that ran'),
  notices: f.texts('Notices and warnings, such as those of RAISE NOTICE'),
}) {}

/** Maximum number of parameters; the protocol would allow 65,535. */
const MAX_PARAMETERS = 1_000;

const AreParameters = (): PropertyDecorator =>
  ValidateBy(
    {
      name: 'areParameters',
      validator: {
        validate: (value: unknown) => value === null || (typeof value === 'string' && !value.includes('\0')),
        defaultMessage: () => 'each value in parameters must be a string without NUL, or null',
      },
    },
    { each: true },
  );

@f.Example({ query: 'create table notes (id bigint primary key, title text)', timeout_seconds: 60 })
class SqlDto extends f.model({
  query: f.text({ min: 1, checks: [NotContains('\0')] }),
  parameters: f.optional(
    f.field<readonly (string | null)[]>(
      {
        type: 'array',
        maxItems: MAX_PARAMETERS,
        // Not declared `nullable`: kubb's types ignore it in a list.
        items: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        example: ['42', null],
        description:
          'Values of `$1`, `$2` and so on, as text, which PostgreSQL converts to the types that the statement needs. With them, `query` is one statement.',
      },
      [IsArray(), ArrayMaxSize(MAX_PARAMETERS), AreParameters()],
    ),
  ),
  timeout_seconds: f.optional.whole('Seconds after which the SQL is ended; default: 60', {
    minimum: 1,
    maximum: 3_600,
  }),
  max_rows: f.optional.whole('Maximum number of rows of a statement in the response; default: 10000', {
    minimum: 1,
    maximum: 100_000,
  }),
  all_results: f.optional.flag(
    'Also returns the rows of the statements before the last one, in `statements`; default: false',
  ),
  read_only: f.optional.flag(
    'Takes a single statement, which cannot write, such as EXPLAIN; a session needs no proof. Default: false',
  ),
  text_values: f.optional.flag(
    'Answers numbers, arrays and JSON as text, too, for clients whose JSON parser rounds large numbers; default: false',
  ),
}) {}

const JSON_TYPE = 'application/json; charset=utf-8';
const DEFAULT_TIMEOUT_SECONDS = 60;
const DEFAULT_MAX_ROWS = 10_000;

@StaffApi()
@Controller('admin/v1/projects/:id')
export class SqlController {
  constructor(private readonly requests: SqlRequests) {}

  @Post('sql')
  @Describe(`Run SQL as the owner of a project's database, in one transaction
    A session needs a proof that is less than ten minutes old for all but a single statement that reads (403 step_up_required). Several statements may be separated by semicolons; the rows are those of the last one. If one fails, or the client disconnects, all are rolled back. The audit log records the statements without their strings.`)
  @Answer(200, 'The SQL was run', SqlResponse)
  @SqlErrors(SQL_FAILURES, SERVER_FAILURE)
  @Errors(stepUpRequired())
  async runProjectSql(
    @Param('id') id: string,
    @StrictBody() body: SqlDto,
    @CurrentStaff() staff: StaffCaller,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const isUnconfirmed = staff.session?.isConfirmed === false;
    const readOnly = body.read_only ?? false;
    const limits = {
      parameters: body.parameters ?? [],
      timeoutSeconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      maxRows: body.max_rows ?? DEFAULT_MAX_ROWS,
      allResults: body.all_results ?? false,
      textValues: body.text_values ?? false,
      readOnly: readOnly || isUnconfirmed,
      abandoned: clientLeft(response),
    };
    const answer = await this.requests.runSql(id, body.query, limits, actor).catch((error: unknown) => {
      throw isUnconfirmed && !readOnly && isBeyondReading(error) ? stepUpRequired() : error;
    });
    await sendChunks(response, 200, { 'Content-Type': JSON_TYPE }, answerJson(answer)).catch(
      (error: unknown) => {
        if (!(error instanceof ClientLeftError)) throw error;
      },
    );
  }
}

/** True for a write, and for several statements: PostgreSQL reports no position for them, except for a syntax error. */
function isBeyondReading(error: unknown): boolean {
  if (!(error instanceof AppError) || !(error.cause instanceof DatabaseError)) return false;
  const { code, position } = error.cause;
  return code === '25006' || (code === '42601' && position === undefined);
}
