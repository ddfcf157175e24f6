/** The query of the audit trail. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsUUID } from 'class-validator';
import { AUDIT_ACTIONS, type AuditAction } from '../../audit/audit-entry';
import { PageQuery } from './page.dto';

export class ListAuditQuery extends PageQuery {
  @ApiPropertyOptional({ enum: AUDIT_ACTIONS, description: 'Only entries of this action' })
  @IsOptional()
  @IsIn(AUDIT_ACTIONS)
  action?: AuditAction;

  @ApiPropertyOptional({ format: 'uuid', description: 'Only entries about this user' })
  @IsOptional()
  @IsUUID()
  user_id?: string;
}
