/** Answers of the auth endpoints, for the OpenAPI document. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { AUDIT_ACTIONS } from '../../audit/audit.repository';

export class UserDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'email' }) email!: string;
  @ApiProperty() name!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'What the application keeps about the user; absent when there is nothing',
  })
  data?: object;
}

export class SessionDto {
  @ApiProperty({ description: 'JWT; sent as `Authorization: Bearer ...`' }) access_token!: string;
  @ApiProperty({ description: 'Unix seconds', example: 1767225600 }) expires_at!: number;
  @ApiProperty({ description: 'Opaque; good for one POST /refresh' }) refresh_token!: string;
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
    description: 'Null when the project wants the address verified first',
  })
  session!: SessionDto | null;
}

export class UserAnswerDto {
  @ApiProperty({ type: UserDto }) user!: UserDto;
}

export class MessageDto {
  @ApiProperty() message!: string;
}

export class SessionInfoDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time', description: 'When it was last refreshed' }) last_seen_at!: string;
  @ApiProperty({ format: 'date-time' }) expires_at!: string;
  @ApiProperty({ type: String, nullable: true }) ip!: string | null;
  @ApiProperty({ type: String, nullable: true }) user_agent!: string | null;
  @ApiProperty({ description: 'True for the session that asks' }) current!: boolean;
}

export class SessionsDto {
  @ApiProperty({ type: [SessionInfoDto] }) sessions!: SessionInfoDto[];
}

export class AuthErrorDto {
  @ApiProperty() detail!: string;
  @ApiProperty({ example: 401 }) status_code!: number;
}

export class AdminUserDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'email' }) email!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ type: 'object', additionalProperties: true }) data!: object;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) email_verified_at!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) banned_until!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) invited_at!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) last_sign_in_at!: string | null;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

export class AdminUserAnswerDto {
  @ApiProperty({ type: AdminUserDto }) user!: AdminUserDto;
}

export class AdminUsersDto {
  @ApiProperty({ type: [AdminUserDto] }) users!: AdminUserDto[];
}

export class AuditEntryDto {
  @ApiProperty() id!: string;
  @ApiProperty({ format: 'date-time' }) at!: string;
  @ApiProperty({ enum: AUDIT_ACTIONS }) action!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) actor_id!: string | null;
  @ApiProperty({ enum: ['anon', 'authenticated', 'service_role'] }) actor_role!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) user_id!: string | null;
  @ApiProperty({ type: String, nullable: true }) ip!: string | null;
  @ApiProperty({ type: String, nullable: true }) user_agent!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true }) details!: object;
}

export class AuditEntriesDto {
  @ApiProperty({ type: [AuditEntryDto] }) entries!: AuditEntryDto[];
}

export class FailedMailDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() kind!: string;
  @ApiProperty() recipient!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty() attempts!: number;
  @ApiProperty({ type: String, nullable: true }) last_error!: string | null;
}

export class FailedMailsDto {
  @ApiProperty({ type: [FailedMailDto] }) mails!: FailedMailDto[];
}

export class MailContentDto {
  @ApiProperty() subject!: string;
  @ApiProperty() text!: string;
  @ApiProperty() html!: string;
}
