/** Platform administration: the audit log, its export, and the verification of its chain. */
import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { ChainHead, AuditChainRepository } from '../audit/audit-chain.repository';
import { AuditLogRepository } from '../audit/audit-log.repository';
import { CSV_HEADER, exportedLog, toCsvLine, toJsonLine } from '../audit/audit-export';
import { AuditLogEntry, AuditVerification } from './dto/audit-responses';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { ExportAuditLogQuery, filterOf, ListAuditLogQuery, VerifyAuditLogQuery } from './dto/audit-log.dto';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { TEXT, NOT_STORED } from '../../http/docs/documented-headers';
import { invalidParameters } from '../../common/errors/app-error';
import { Answer, Describe, Errors, StreamAnswer } from '../../http/docs/operation.decorators';

const DEFAULT_LIMIT = 100;
const DEFAULT_SLICE = 10_000;
const JSON_LINES = 'application/x-ndjson';
const CSV = 'text/csv';
const EXPORTED = {
  [JSON_LINES]: '{"id":"1042","at":"2026-11-22T12:00:00.000000Z","action":"project.create"}\n',
  [CSV]: CSV_HEADER,
};
const EXPORT_HEADERS = {
  ...NOT_STORED,
  'Content-Disposition': { description: 'Filename for browsers', schema: TEXT },
};
const PAGE_HEADERS = {
  'X-Next-Cursor': {
    description: 'Value of `before` for the next page; absent on the last page',
    schema: TEXT,
  },
};

@StaffApi()
@Controller('admin/v1/audit-log')
export class AuditLogController {
  constructor(
    private readonly audit: AuditLogRepository,
    private readonly chain: AuditChainRepository,
  ) {}

  @Get()
  @Describe(`List changes, newest first
    Records every change made through the administration and every access to a secret. At most 1000 per page.`)
  @Answer(200, 'A page of entries', [AuditLogEntry], PAGE_HEADERS)
  @Errors(invalidParameters('before must be an id of the audit log'))
  async listAuditLog(
    @StrictQuery() query: ListAuditLogQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuditLogEntry[]> {
    const { before, limit = DEFAULT_LIMIT } = query;
    // Reads one entry more than the limit, which shows whether there is a next page.
    const entries = await this.audit.list({ ...filterOf(query), before, limit: limit + 1 });
    const page = entries.slice(0, limit);
    const last = page.at(-1);
    if (entries.length > limit && last) response.setHeader('X-Next-Cursor', last.id);
    return page;
  }

  @Get('export')
  @Describe(`Export entries, oldest first, as JSON lines or CSV
    The response is streamed; a failure after its start closes the connection. JSON lines contain the values as they are hashed. In CSV, text that a spreadsheet would read as a formula is prefixed with an apostrophe.`)
  @StreamAnswer('All entries that match', EXPORTED, EXPORT_HEADERS)
  @Errors(invalidParameters('format must be one of the following values: jsonl, csv'))
  async exportAuditLog(@StrictQuery() query: ExportAuditLogQuery, @Res() response: Response): Promise<void> {
    const isCsv = query.format === 'csv';
    const chunks = exportedLog(
      this.audit,
      filterOf(query),
      isCsv ? CSV_HEADER : '',
      isCsv ? toCsvLine : toJsonLine,
    );
    const head = {
      'Content-Type': isCsv ? `${CSV}; charset=utf-8` : JSON_LINES,
      'Content-Disposition': `attachment; filename="audit-log.${isCsv ? 'csv' : 'jsonl'}"`,
      'Cache-Control': 'no-store',
    };
    await sendChunks(response, 200, head, chunks).catch((error: unknown) => {
      if (!(error instanceof ClientLeftError)) throw error;
    });
  }

  @Get('verify')
  @Describe(`Verify a slice of the hash chain and find the first broken record
    Repeat the call with \`after\` set to \`next\` until \`next\` is null. With the first slice, pass a \`head\` that was kept outside the database: a recomputed chain is intact but does not contain it.`)
  @Answer(200, 'The outcome, broken or intact', AuditVerification)
  @Errors(invalidParameters('head must have the form position:hash'))
  async verifyAuditLog(@StrictQuery() query: VerifyAuditLogQuery): Promise<AuditVerification> {
    const { after = 0, limit = DEFAULT_SLICE, head } = query;
    const slice = await this.chain.verify(after, limit, head === undefined ? null : headOf(head));
    const { broken } = slice;
    return {
      intact: broken === null,
      checked: slice.checked,
      next: slice.isEnd ? null : slice.last,
      head: slice.head,
      broken: broken && { position: broken.position, record_id: broken.recordId, fault: broken.fault },
    };
  }
}

/** @param text `position:hash` */
function headOf(text: string): ChainHead {
  const [position = '', hash = ''] = text.split(':');
  return { position: Number(position), hash };
}
