/** The response of the doctor, as a type and as an OpenAPI schema. */
import { Finding, FINDING_STATUSES } from '../../finding';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

class FindingResponse
  extends model({
    check: f.text({ example: 'disk' }),
    status: f.choice(FINDING_STATUSES),
    message: f.text(),
    remedy: f.nullable(f.field<string>({ type: String, description: 'How to fix it' })),
  })
  implements Finding {}

export class DoctorReport extends model({
  version: f.text({ description: "The server's version", example: '0.1.0' }),
  now: f.time("The server's clock"),
  findings: f.list(FindingResponse, {
    example: [{ check: 'redis', status: 'skipped', message: 'REDIS_URL is not set', remedy: null }],
  }),
}) {}
