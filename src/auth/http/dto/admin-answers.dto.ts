/** Answers of the administration, for the OpenAPI document. */
import { ApiProperty } from '@nestjs/swagger';
import { AUDIT_ACTIONS } from '../../audit/audit-entry';

class AdminUserDto {
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

class AuditEntryDto {
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

class FailedMailDto {
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
