/** Bodies and answers of the endpoints for second factors. */
import { type Factor, FACTOR_KINDS } from '../../factors/factor';
import * as f from '../../../http/model/fields';

export class EnrolFactorDto extends f.model({
  name: f.optional(
    f.nullable.text('Shown in the list of factors; default: Authenticator', { max: 200, example: 'Phone' }),
  ),
}) {}

export class CodeDto extends f.model({
  code: f.text('Six digits from the app; each code is accepted once', { min: 1, max: 20, example: '492039' }),
}) {}

export class EnrolledFactorResponse extends f.model({
  id: f.uuid(),
  kind: f.choice(['totp'], { example: 'totp' }),
  name: f.text({ example: 'Phone' }),
  secret: f.text('Base32, to type into the app; not shown again', {
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  }),
  uri: f.text('For a QR code', {
    example: 'otpauth://totp/Shop:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Shop',
  }),
}) {}

class FactorResponse extends f.model({
  id: f.uuid(),
  kind: f.choice(FACTOR_KINDS),
  name: f.text({ example: 'Phone' }),
  created_at: f.timeText(),
  verified_at: f.nullable.timeText('Null until a code was verified'),
  last_used_at: f.nullable.timeText(),
}) {}

export function toFactorView({ id, kind, name, createdAt, verifiedAt, lastUsedAt }: Factor): FactorResponse {
  return {
    id,
    kind,
    name,
    created_at: createdAt.toISOString(),
    verified_at: verifiedAt?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}

export class FactorsResponse extends f.model({
  factors: f.list(FactorResponse),
}) {}
