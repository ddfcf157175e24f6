/** Platform administration: SQL as the owner of a project's database. */
import { Controller, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Actor } from '../../install/audit/audit-log.repository';
import { SqlRequests } from '../sql-requests.service';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { SqlResponse } from './dto/sql-responses';
import { SqlDto } from './dto/sql.dto';
import { answerJson } from '../answer-json';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { clientLeft } from '../../http/client-left';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { SqlErrors, SQL_FAILURES, SERVER_FAILURE } from './sql-error-docs';
import { Answer, Describe } from '../../http/docs/operation.decorators';

const JSON_TYPE = 'application/json; charset=utf-8';
const DEFAULT_TIMEOUT_SECONDS = 60;
const DEFAULT_MAX_ROWS = 10_000;

@StaffApi()
@Controller('admin/v1/projects/:id')
export class SqlController {
  constructor(private readonly requests: SqlRequests) {}

  @Post('sql')
  @Describe(`Run SQL as the owner of a project's database, in one transaction
    Several statements may be separated by semicolons; the rows are those of the last one. If one fails, or the client disconnects, all are rolled back. The audit log records the kinds of the statements, not their text.`)
  @Answer(200, 'The SQL was run', SqlResponse)
  @SqlErrors(SQL_FAILURES, SERVER_FAILURE)
  async runProjectSql(
    @Param('id') id: string,
    @StrictBody() body: SqlDto,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const limits = {
      timeoutSeconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      maxRows: body.max_rows ?? DEFAULT_MAX_ROWS,
      allResults: body.all_results ?? false,
      textValues: body.text_values ?? false,
      abandoned: clientLeft(response),
    };
    const answer = await this.requests.run(id, body.query, limits, actor);
    await sendChunks(response, 200, { 'Content-Type': JSON_TYPE }, answerJson(answer)).catch(
      (error: unknown) => {
        if (!(error instanceof ClientLeftError)) throw error;
      },
    );
  }
}
