/** Platform administration: the schema of a project as SQL. */
import { Controller, Get, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { WholeRequests } from '../../admission/whole-requests.service';
import { clientLeft } from '../../http/client-left';
import { ProjectSchema } from '../project-schema.service';
import { untilSent } from './archive-response';
import { StaffAccess } from '../../staff/http/staff-api.decorator';
import { Describe, StreamAnswer } from '../../http/docs/operation.decorators';
import { NOT_STORED } from '../../http/docs/documented-headers';

/** The beginning of an answer. */
const SCHEMA = 'CREATE TABLE public.todos (\n    id bigint NOT NULL,\n    title text NOT NULL\n);\n';

@StaffAccess()
@Controller('admin/v1/projects/:id/schema')
export class ProjectSchemaController {
  constructor(
    private readonly schemas: ProjectSchema,
    private readonly admission: WholeRequests,
  ) {}

  @Get()
  @Describe(`Get the schema of a project's database as SQL
    The text is that of \`pg_dump --schema-only\`, without extensions and owners. A failure after the first byte closes the connection.`)
  @StreamAnswer('The schema', { 'text/plain': SCHEMA }, NOT_STORED)
  dumpProjectSchema(@Param('id') id: string, @Res() response: Response): Promise<void> {
    const open = (): Response => {
      response.setHeader('Content-Type', 'text/plain; charset=utf-8');
      response.setHeader('Cache-Control', 'no-store');
      return response;
    };
    const written = this.admission.runRequest(id, () => this.schemas.write(id, open), clientLeft(response));
    return untilSent(`The schema of project ${id}`, written);
  }
}
