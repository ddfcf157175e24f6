/** Platform administration: SQL as the owner of a project's database. */
import { Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { Actor } from '../../install/audit/audit-log.repository';
import { SqlRequests } from '../sql-requests.service';
import { SqlAnswer } from './dto/sql-responses';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { SqlDto } from './dto/sql.dto';
import { answerJson } from '../answer-json';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { clientLeft } from '../../http/client-left';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import {
  bodyNotJson,
  bodyTooSlow,
  bodyTooLarge,
  mediaTypeNotJson,
  bodyIsEncoded,
  noMemoryForBody,
} from '../../http/bodies/body.errors';
import { projectNotFound } from '../../projects/projects.errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { SqlErrors, SQL_FAILURES, SERVER_FAILURE } from './sql-error-docs';
import { ProjectIdParam, STAFF_REFUSALS, StaffApi } from '../../staff/http/staff-api.decorator';
import { internalError, databaseUnreachable } from '../../common/errors/http-errors';
import { MAX_JSON_BODY } from '../../http/bodies/body-reader';

const JSON_TYPE = 'application/json; charset=utf-8';
const DEFAULT_TIMEOUT_SECONDS = 60;
const DEFAULT_MAX_ROWS = 10_000;

@StaffApi()
@Controller('admin/v1/projects/:id')
export class SqlController {
  constructor(private readonly requests: SqlRequests) {}

  @Post('sql')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'runProjectSql',
    summary: "Run SQL as the owner of a project's database, in one transaction",
    description:
      'Several statements may be separated by semicolons; the rows are those of the last one. If one fails, or the client disconnects, all are rolled back. The audit log records the kinds of the statements, not their text.',
  })
  @ProjectIdParam()
  @JsonBody(SqlDto)
  @Answer(200, 'The SQL was run', SqlAnswer)
  @SqlErrors(SQL_FAILURES, SERVER_FAILURE, bodyNotJson(), noMemoryForBody(), databaseUnreachable())
  @PlatformErrors(
    bodyTooSlow(),
    bodyTooLarge(MAX_JSON_BODY),
    mediaTypeNotJson(),
    bodyIsEncoded('gzip'),
    projectNotFound(),
    STAFF_REFUSALS,
    internalError(),
  )
  async sql(
    @Param('id') id: string,
    @StrictBody() body: SqlDto,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const limits = {
      timeoutSeconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      maxRows: body.max_rows ?? DEFAULT_MAX_ROWS,
      allResults: body.all_results ?? false,
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
