/** The error body of everything that is not auth, storage or table REST, for the OpenAPI document. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

class SqlLocation {
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly line!: number;
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Character of the line' })
  readonly column!: number;
}

/** PostgreSQL's error fields for SQL that failed. */
class SqlErrorFields {
  @ApiProperty({ example: '42P01' }) readonly sqlstate!: string;
  @ApiProperty({ type: String, nullable: true }) readonly detail!: string | null;
  @ApiProperty({ type: String, nullable: true }) readonly hint!: string | null;
  @ApiProperty({ type: String, nullable: true }) readonly constraint!: string | null;
  @ApiProperty({ type: String, nullable: true }) readonly column!: string | null;
  @ApiProperty({ type: String, nullable: true }) readonly table!: string | null;
  @ApiProperty({ type: String, nullable: true }) readonly schema!: string | null;
  @ApiProperty({ type: Number, nullable: true, description: 'Character of the query, from 1' })
  readonly position!: number | null;
  @ApiProperty({ type: SqlLocation, nullable: true, description: 'The same as line and column' })
  readonly location!: SqlLocation | null;
  @ApiProperty({ type: String, nullable: true }) readonly where!: string | null;
}

export class PlatformErrorDetail {
  @ApiProperty() readonly message!: string;
  @ApiProperty({ example: 'project_not_found' }) readonly code!: string;
  @ApiProperty({ example: 404 }) readonly status!: number;
  @ApiPropertyOptional({ type: SqlErrorFields, description: 'Only where SQL failed' })
  readonly database?: SqlErrorFields;
}

export class PlatformError {
  @ApiProperty({ type: PlatformErrorDetail }) readonly error!: PlatformErrorDetail;
}
