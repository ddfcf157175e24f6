/** Bodies and answers of the endpoints for second factors. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import type { FactorView } from '../../factors/factor';
import { IsName, IsText } from './checks';

export class EnrolFactorDto {
  @ApiPropertyOptional({ type: String, example: 'Phone', default: 'Authenticator' })
  @IsOptional()
  @IsName()
  name?: string | null;
}

export class CodeDto {
  @ApiProperty({ example: '492039', description: 'Six digits from the app; each code is accepted once' })
  @IsText({ min: 1, max: 20 })
  code!: string;
}

export class EnrolledFactorDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: ['totp'] }) kind!: 'totp';
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'Base32, to type into the app; not shown again' }) secret!: string;
  @ApiProperty({ description: 'For a QR code', example: 'otpauth://totp/Shop:ada%40example.com?secret=...' })
  uri!: string;
}

class FactorDto implements FactorView {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: ['totp'] }) kind!: 'totp';
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

export class FactorsDto {
  @ApiProperty({ type: [FactorDto] }) factors!: FactorDto[];
}
