/** Bodies and answers of the endpoints for second factors. */
import { FACTOR_KINDS, type FactorView } from '../../factors/factor';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

export class EnrolFactorDto extends model({
  name: f.optional(
    f.nullable(
      f.text({
        max: 200,
        example: 'Phone',
        description: 'Shown in the list of factors; default: Authenticator',
      }),
    ),
  ),
}) {}

export class CodeDto extends model({
  code: f.text({
    min: 1,
    max: 20,
    example: '492039',
    description: 'Six digits from the app; each code is accepted once',
  }),
}) {}

export class EnrolledFactorResponse extends model({
  id: f.uuid(),
  kind: f.choice(['totp'], { example: 'totp' }),
  name: f.text({ example: 'Phone' }),
  secret: f.text({
    description: 'Base32, to type into the app; not shown again',
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  }),
  uri: f.text({
    description: 'For a QR code',
    example: 'otpauth://totp/Shop:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Shop',
  }),
}) {}

class FactorResponse
  extends model({
    id: f.uuid(),
    kind: f.choice(FACTOR_KINDS),
    name: f.text({ example: 'Phone' }),
    created_at: f.timeText(),
    verified_at: f.nullable(f.timeText('Null until a code was verified')),
    last_used_at: f.nullable(f.timeText()),
  })
  implements FactorView {}

export class FactorsResponse extends model({
  factors: f.list(FactorResponse),
}) {}
