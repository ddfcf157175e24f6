/** Query strings of the audit log. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Matches, NotContains } from 'class-validator';
import { SIZE } from '../../../http/docs/documented-types';
import { Moment } from '../../../http/input/moment';
import { WholeNumber } from '../../../http/input/whole-number';
import { AuditFilter } from '../../audit/audit-log.repository';

class AuditFilterQuery {
  @ApiPropertyOptional({ description: 'Only entries about this project' })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  project_id?: string;

  @ApiPropertyOptional({ example: 'project.create', description: 'Only entries of this action' })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  action?: string;

  @ApiPropertyOptional({ example: 'platform-admin', description: 'Only entries of this author' })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  actor?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Only entries of this time or later' })
  @IsOptional()
  @Moment('since')
  since?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Only entries before this time' })
  @IsOptional()
  @Moment('until')
  until?: string;
}

export class ListAuditLogQuery extends AuditFilterQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 1_000,
    description: 'Entries per page; default: 100',
  })
  @IsOptional()
  @WholeNumber(1, 1_000)
  limit?: number;

  @ApiPropertyOptional({
    pattern: '^\\d{1,18}$',
    description: 'The X-Next-Cursor header of the previous page',
  })
  @IsOptional()
  @Matches(/^\d{1,18}$/, { message: 'before must be an id of the audit log' })
  before?: string;
}

const EXPORT_FORMATS = ['jsonl', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export class ExportAuditLogQuery extends AuditFilterQuery {
  @ApiPropertyOptional({ enum: EXPORT_FORMATS, description: 'Default: jsonl' })
  @IsOptional()
  @IsIn(EXPORT_FORMATS)
  format?: ExportFormat;
}

export class VerifyAuditLogQuery {
  @ApiPropertyOptional({
    ...SIZE,
    description: 'Continues after this position: `next` of the previous answer; default: 0',
  })
  @IsOptional()
  @WholeNumber(0)
  after?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 50_000,
    description: 'Records to verify; default: 10000',
  })
  @IsOptional()
  @WholeNumber(1, 50_000)
  limit?: number;

  @ApiPropertyOptional({
    pattern: '^\\d{1,15}:[0-9a-f]{64}$',
    description: 'A head that was kept elsewhere, as `position:hash`: the chain must still contain it',
  })
  @IsOptional()
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
