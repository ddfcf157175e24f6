/** Platform administration: imports users of another system from a stream of JSON Lines. */
import { Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { pacedBody } from '../../admission/body-pace';
import { WholeRequests } from '../../admission/whole-requests.service';
import { invalidParameters } from '../../common/errors/app-error';
import { BodyReader } from '../../http/bodies/body-reader';
import { bodyTooLarge, bodyTooSlow } from '../../http/bodies/body.errors';
import { assertNotEncoded } from '../../http/bodies/content-encoding';
import { clientLeft } from '../../http/client-left';
import { Answer, Describe, Errors, together } from '../../http/docs/operation.decorators';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { StaffAccess, CurrentActor } from '../../staff/http/staff-api.decorator';
import { UserImport } from '../admin/user-import.service';
import { ImportUsersQuery, UserImportResponse } from './dto/user-imports.dto';

/** Bytes. A larger import is sent in parts. */
const MAX_BODY = 64 * 1024 * 1024;
/** Bytes of memory: a batch as lines, as objects and as the message to PostgreSQL. */
const HELD = 8 * 1024 * 1024;
const EXAMPLE = {
  id: '7d3f8a52-0d5c-4b0e-9a57-0c3a6f2b9d11',
  email: 'ada@example.com',
  email_confirmed_at: '2026-01-01T08:00:00Z',
  password_hash: '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
  user_metadata: { name: 'Ada' },
  identities: [{ provider: 'google', id: '117' }],
};

const IMPORT_PROJECT_USERS_DOCS = together(
  ApiConsumes('application/x-ndjson'),
  ApiBody({
    required: true,
    schema: { type: 'string' },
    examples: { example: { summary: 'Example', value: `${JSON.stringify(EXAMPLE)}\n` } },
  }),
  Errors(invalidParameters('existing must be one of: skip, update'), bodyTooLarge(MAX_BODY), bodyTooSlow()),
);

@StaffAccess()
@Controller('admin/v1/projects/:id/users')
export class UserImportsController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly imports: UserImport,
    private readonly bodies: BodyReader,
    private readonly admission: WholeRequests,
    private readonly audit: AuditLogRepository,
  ) {}

  @Post('import')
  @Describe(`Import users of another system, with the hashes of their passwords
    The body has a JSON object a line. All members are optional: \`id\`, \`email\`, \`phone\`, \`name\`, \`password_hash\`, \`user_metadata\`, \`app_metadata\`, the times \`email_confirmed_at\`, \`phone_confirmed_at\`, \`created_at\`, \`last_sign_in_at\`, \`banned_until\`, and \`identities\`, each with \`provider\`, \`id\`, \`issuer\`, \`data\`. Hashes are verified as they are and replaced at the first sign-in. A user exists if the id, the address or the phone does. A line that is refused does not stop the others, and what was stored before a failure stays: repeat the request. No mail is sent, and no hook is called.`)
  @Answer(200, 'What was stored, and the first faults', UserImportResponse)
  @IMPORT_PROJECT_USERS_DOCS
  async importProjectUsers(
    @Param('id') id: string,
    @StrictQuery() { existing }: ImportUsersQuery,
    @CurrentActor() actor: Actor,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserImportResponse> {
    const project = await this.registry.get(id);
    assertNotEncoded(request);
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) throw bodyTooLarge(MAX_BODY);
    const memory = await this.bodies.reserve(request, HELD);
    const work = (): Promise<UserImportResponse> =>
      this.imports.importUsers(project, bounded(pacedBody(request, this.bodies.pace)), existing === 'update');
    try {
      const report = await this.admission.runRequest(project.id, work, clientLeft(response));
      const { errors: _errors, unknown_providers: _providers, ...counts } = report;
      await this.audit.write({ actor, action: 'project.users.import', projectId: id, details: counts });
      return report;
    } finally {
      memory.release();
    }
  }
}

/** @throws AppError 413 */
async function* bounded(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY) throw bodyTooLarge(MAX_BODY);
    yield chunk;
  }
}
