/** Bodies and responses of the key pairs of the S3 protocol. */
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsString, IsUUID, MaxLength, MinLength } from 'class-validator';
import { Example } from '../../../http/docs/example.decorator';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

const RIGHTS = { name: 'backups', user_id: null, bucket: 'backups', read_only: false };
const KEY = {
  access_key_id: 'k3v9x0a1b2c3d4e5f6g7m4q8z1t6w2y9',
  ...RIGHTS,
  created_at: '2026-11-26T09:00:00.000Z',
};
const USER = { description: 'Requests have the rights of this user; null: of the service-role key' } as const;
const BUCKET = { description: 'The only bucket that the key reaches, by name or slug; null: all' } as const;

@Example({ name: 'backups', bucket: 'backups' })
export class CreateS3KeyDto {
  @OptionalProperty({
    type: String,
    nullable: true,
    maxLength: 255,
    description: 'What the key is for; default: empty',
  })
  @IsString()
  @MaxLength(255)
  readonly name?: string | null;

  @OptionalProperty({ type: String, nullable: true, format: 'uuid', ...USER })
  @IsUUID()
  readonly user_id?: string | null;

  @OptionalProperty({ type: String, nullable: true, minLength: 1, maxLength: 255, ...BUCKET })
  @IsString()
  @MinLength(1)
  @MaxLength(255)
  readonly bucket?: string | null;

  @OptionalProperty({ type: Boolean, nullable: true, description: 'The key may only read; default: false' })
  @IsBoolean()
  readonly read_only?: boolean | null;
}

@Example(KEY)
export class S3KeyResponse {
  @ApiProperty() readonly access_key_id!: string;
  @ApiProperty({ description: 'What the key is for' }) readonly name!: string;
  @ApiProperty({ type: String, nullable: true, ...USER }) readonly user_id!: string | null;
  @ApiProperty({ type: String, nullable: true, ...BUCKET }) readonly bucket!: string | null;
  @ApiProperty({ description: 'The key may only read' }) readonly read_only!: boolean;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
}

@Example({ ...KEY, secret_access_key: 'sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2w3D5i6R9k0T' })
export class CreatedS3KeyResponse extends S3KeyResponse {
  @ApiProperty({ description: 'Shown only now' }) readonly secret_access_key!: string;
}

@Example({ access_key_id: KEY.access_key_id, deleted: true })
export class DeletedS3KeyResponse {
  @ApiProperty() readonly access_key_id!: string;
  @ApiProperty({ type: Boolean, enum: [true] }) readonly deleted!: true;
}
