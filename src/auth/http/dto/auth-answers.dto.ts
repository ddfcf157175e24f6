/** Answers of the endpoints for users, for the OpenAPI document. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

class UserDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'email' }) email!: string;
  @ApiProperty() name!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'JSON that the application keeps about the user; absent if it is empty',
  })
  data?: object;
}

class SessionDto {
  @ApiProperty({ description: 'JWT; sent as `Authorization: Bearer ...`' }) access_token!: string;
  @ApiProperty({ description: 'Unix seconds', example: 1767225600 }) expires_at!: number;
  @ApiProperty({ description: 'Opaque; valid for one POST /refresh' }) refresh_token!: string;
}

export class SignedInDto {
  @ApiProperty({ type: UserDto }) user!: UserDto;
  @ApiProperty({ type: SessionDto }) session!: SessionDto;
}

export class SignedUpDto {
  @ApiProperty({ type: UserDto }) user!: UserDto;
  @ApiProperty({
    type: SessionDto,
    nullable: true,
    description: 'Null if the project requires a verified address',
  })
  session!: SessionDto | null;
}

export class UserAnswerDto {
  @ApiProperty({ type: UserDto }) user!: UserDto;
}

export class MessageDto {
  @ApiProperty() message!: string;
}

class SessionInfoDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time', description: 'When it was last refreshed' }) last_seen_at!: string;
  @ApiProperty({ format: 'date-time' }) expires_at!: string;
  @ApiProperty({ type: String, nullable: true }) ip!: string | null;
  @ApiProperty({ type: String, nullable: true }) user_agent!: string | null;
  @ApiProperty({ description: 'True for the session of the request' }) current!: boolean;
}

export class SessionsDto {
  @ApiProperty({ type: [SessionInfoDto] }) sessions!: SessionInfoDto[];
}

export class AuthErrorDto {
  @ApiProperty() detail!: string;
  @ApiProperty({ example: 401 }) status_code!: number;
}
