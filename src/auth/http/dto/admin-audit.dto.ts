/** The query of the audit trail. */
import { IsIn, IsUUID } from 'class-validator';
import { AUDIT_ACTIONS, type AuditAction } from '../../audit/audit-entry';
import { PageQuery } from './page.dto';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

export class ListAuditQuery extends PageQuery {
  @OptionalProperty({ enum: AUDIT_ACTIONS, description: 'Only entries of this action' })
  @IsIn(AUDIT_ACTIONS)
  action?: AuditAction;

  @OptionalProperty({ format: 'uuid', description: 'Only entries about this user' })
  @IsUUID()
  user_id?: string;
}
