/** Platform administration: checks of the install and its dependencies. */
import { Controller, Post } from '@nestjs/common';
import { IsEmail } from 'class-validator';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { DoctorService } from '../doctor.service';
import { PRODUCT } from '../../config/product';
import { invalidParameters } from '../../common/errors/app-error';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { Answer, Describe, Errors, JsonBody } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';
import { Finding, FINDING_STATUSES } from '../finding';

class FindingResponse
  extends f.model({
    check: f.text({ example: 'disk' }),
    status: f.choice(FINDING_STATUSES),
    message: f.text(),
    remedy: f.nullable(f.field<string>({ type: String, description: 'How to fix it' })),
  })
  implements Finding {}

class DoctorReport extends f.model({
  version: f.text("The server's version", { example: '0.1.0' }),
  now: f.time("The server's clock"),
  findings: f.list(FindingResponse, {
    example: [{ check: 'redis', status: 'skipped', message: 'REDIS_URL is not set', remedy: null }],
  }),
}) {}

class DoctorDto extends f.model({
  mail_to: f.optional(
    f.field<string>({ description: 'Address that a test mail is sent to', example: 'admin@example.com' }, [
      IsEmail(),
    ]),
  ),
}) {}

@StaffApi()
@Controller('admin/v1/doctor')
export class DoctorController {
  constructor(private readonly doctor: DoctorService) {}

  @Post()
  @Describe(`Check the install: database, disk, clock, Redis, storage, mail, PUBLIC_URL, TLS, projects
    Changes nothing: the object and the Redis key that are written for the check are deleted again. With \`mail_to\`, a test mail is sent.`)
  @JsonBody(DoctorDto, { required: false })
  @Answer(200, 'The findings, failed ones included', DoctorReport)
  @Errors(invalidParameters('mail_to must be an email'))
  async examineInstall(@StrictBody() body: DoctorDto): Promise<DoctorReport> {
    const findings = await this.doctor.examine({ mailTo: body.mail_to ?? null });
    return { version: PRODUCT.version, now: new Date(), findings };
  }
}
