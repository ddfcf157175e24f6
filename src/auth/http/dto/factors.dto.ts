/** Bodies and answers of the endpoints for second factors. */
import { ApiProperty } from '@nestjs/swagger';
import { FACTOR_KINDS, type FactorKind, type FactorView } from '../../factors/factor';
import { IsName, IsText } from '../../../identity/http/checks';
import { Example } from '../../../http/docs/example.decorator';
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

@Example({ name: 'Phone' })
export class EnrolFactorDto {
  @OptionalProperty({
    type: String,
    nullable: true,
    maxLength: 200,
    example: 'Phone',
    description: 'Shown in the list of factors; default: Authenticator',
  })
  @IsName()
  name?: string | null;
}

@Example({ code: '492039' })
export class CodeDto {
  @ApiProperty({ example: '492039', description: 'Six digits from the app; each code is accepted once' })
  @IsText({ min: 1, max: 20 })
  code!: string;
}

@Example({
  id: UUID_EXAMPLE,
  kind: 'totp',
  name: 'Phone',
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  uri: 'otpauth://totp/Shop:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Shop',
})
export class EnrolledFactorResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: ['totp'] }) kind!: 'totp';
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'Base32, to type into the app; not shown again' }) secret!: string;
  @ApiProperty({ description: 'For a QR code', example: 'otpauth://totp/Shop:ada%40example.com?secret=...' })
  uri!: string;
}

class FactorResponse implements FactorView {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: FACTOR_KINDS }) kind!: FactorKind;
  @ApiProperty() name!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null until a code was verified',
  })
  verified_at!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) last_used_at!: string | null;
}

@Example({
  factors: [
    {
      id: UUID_EXAMPLE,
      kind: 'totp',
      name: 'Phone',
      created_at: '2026-01-01T08:00:00.000Z',
      verified_at: '2026-01-01T08:01:00.000Z',
      last_used_at: null,
    },
  ],
})
export class FactorsResponse {
  @ApiProperty({ type: [FactorResponse] }) factors!: FactorResponse[];
}
