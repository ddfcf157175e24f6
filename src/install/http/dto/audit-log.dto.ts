/** Query strings of the audit log. */
import { IsIn, IsString, Matches, NotContains } from 'class-validator';
import { Moment } from '../../../http/input/moment';
import { WholeNumber } from '../../../http/input/whole-number';
import { AuditFilter } from '../../audit/audit-log.repository';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

class AuditFilterQuery {
  @OptionalProperty({ description: 'Only entries about this project' })
  @IsString()
  @NotContains('\0')
  project_id?: string;

  @OptionalProperty({ example: 'project.create', description: 'Only entries of this action' })
  @IsString()
  @NotContains('\0')
  action?: string;

  @OptionalProperty({ example: 'platform-admin', description: 'Only entries of this author' })
  @IsString()
  @NotContains('\0')
  actor?: string;

  @OptionalProperty({ format: 'date-time', description: 'Only entries of this time or later' })
  @Moment('since')
  since?: string;

  @OptionalProperty({ format: 'date-time', description: 'Only entries before this time' })
  @Moment('until')
  until?: string;
}

export class ListAuditLogQuery extends AuditFilterQuery {
  @OptionalProperty({ description: 'Entries per page; default: 100' })
  @WholeNumber(1, 1_000)
  limit?: number;

  @OptionalProperty({
    pattern: '^\\d{1,18}$',
    description: 'The X-Next-Cursor header of the previous page',
  })
  @Matches(/^\d{1,18}$/, { message: 'before must be an id of the audit log' })
  before?: string;
}

const EXPORT_FORMATS = ['jsonl', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export class ExportAuditLogQuery extends AuditFilterQuery {
  @OptionalProperty({ enum: EXPORT_FORMATS, description: 'Default: jsonl' })
  @IsIn(EXPORT_FORMATS)
  format?: ExportFormat;
}

export class VerifyAuditLogQuery {
  @OptionalProperty({
    description: 'Continues after this position: `next` of the previous answer; default: 0',
  })
  @WholeNumber(0)
  after?: number;

  @OptionalProperty({ description: 'Records to verify; default: 10000' })
  @WholeNumber(1, 50_000)
  limit?: number;

  @OptionalProperty({
    pattern: '^\\d{1,15}:[0-9a-f]{64}$',
    description: 'A head that was kept elsewhere, as `position:hash`: the chain must still contain it',
  })
  @Matches(/^\d{1,15}:[0-9a-f]{64}$/, { message: 'head must have the form position:hash' })
  head?: string;
}

export const filterOf = ({ project_id: projectId, ...rest }: AuditFilterQuery): AuditFilter => ({
  projectId,
  action: rest.action,
  actor: rest.actor,
  since: rest.since,
  until: rest.until,
});
