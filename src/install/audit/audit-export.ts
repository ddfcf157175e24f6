/** The audit log as text for other programs, page by page, so that memory does not grow with it. */
import { Slices } from '../../common/time/slices';
import { AuditFilter, AuditLogRepository, AuditRecord } from './audit-log.repository';

const PAGE = 1_000;
/** Characters. */
const CHUNK = 64 * 1024;

const COLUMNS = [
  'id',
  'at',
  'actor',
  'action',
  'project_id',
  'address',
  'details',
  'position',
  'previous_hash',
  'hash',
] as const satisfies readonly (keyof AuditRecord)[];

type Printer = (record: AuditRecord) => string;

/** One JSON object per line. */
export const toJsonLine: Printer = (record) => `${JSON.stringify(record)}\n`;

/** RFC 4180, without the header line. */
export const toCsvLine: Printer = (record) =>
  `${COLUMNS.map((column) => csvField(record[column])).join(',')}\r\n`;

export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/** Oldest first. Gives at least one chunk, so that an empty log has a response too. Yields to the event loop between the records. */
export async function* exportedLog(
  log: AuditLogRepository,
  filter: AuditFilter,
  header: string,
  print: Printer,
): AsyncGenerator<string> {
  const slices = new Slices();
  let text = header;
  let page: AuditRecord[] = [];
  do {
    page = await log.listAfter(page.at(-1)?.id ?? '0', PAGE, filter);
    for (const record of page) {
      text += print(record);
      if (text.length >= CHUNK) {
        yield text;
        text = '';
      }
      if (slices.isOver) await slices.yieldToLoop();
    }
  } while (page.length === PAGE);
  yield text;
}

/**
 * A text that a spreadsheet would read as a formula gets an apostrophe in front (OWASP, "CSV Injection"):
 * names of staff and details come from outside.
 */
function csvField(value: AuditRecord[keyof AuditRecord]): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
