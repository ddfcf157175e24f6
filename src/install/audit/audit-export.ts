/** The audit log as text for other programs, page by page, so that memory does not grow with it. */
import { AuditFilter, AuditLogRepository, AuditRecord } from './audit-log.repository';

const PAGE = 1_000;

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

type Printer = (records: readonly AuditRecord[]) => string;

/** One JSON object a line. */
export const toJsonLines: Printer = (records) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** RFC 4180, without the header line. */
export const toCsv: Printer = (records) =>
  records.map((record) => `${COLUMNS.map((column) => csvField(record[column])).join(',')}\r\n`).join('');

export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/** Oldest first. Gives at least one chunk, so that an empty log has a response too. */
export async function* exportedLog(
  log: AuditLogRepository,
  filter: AuditFilter,
  header: string,
  print: Printer,
): AsyncGenerator<string> {
  let after = '0';
  let page = await log.listAfter(after, PAGE, filter);
  yield header + print(page);
  while (page.length === PAGE) {
    after = page.at(-1)?.id ?? after;
    page = await log.listAfter(after, PAGE, filter);
    yield print(page);
  }
}

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe in front (OWASP, "CSV Injection"): names of staff
 * and details come from outside.
 */
function csvField(value: AuditRecord[keyof AuditRecord]): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
