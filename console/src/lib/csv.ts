/** CSV (RFC 4180), for files that are imported and results that are saved. */

/** @returns records of fields; a line break at the end and blank lines give no record */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let isQuoted = false;
  let hasQuotes = false;
  const endRecord = (): void => {
    if (record.length > 0 || field !== '' || hasQuotes) records.push([...record, field]);
    record = [];
    field = '';
    hasQuotes = false;
  };
  for (let index = text.charCodeAt(0) === 0xfeff ? 1 : 0; index < text.length; index++) {
    const char = text[index]!;
    if (isQuoted) {
      if (char !== '"') field += char;
      else if (text[index + 1] === '"') field += text[++index];
      else isQuoted = false;
    } else if (char === '"' && field === '') isQuoted = hasQuotes = true;
    else if (char === ',') {
      record.push(field);
      field = '';
      hasQuotes = false;
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text[index + 1] === '\n') index++;
      endRecord();
    } else field += char;
  }
  endRecord();
  return records;
}

/** Null is an empty field, an empty text is `""`. */
export function toCsv(records: readonly (readonly (string | null)[])[]): string {
  const field = (value: string | null): string => {
    if (value === null) return '';
    return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return records.map((record) => `${record.map(field).join(',')}\r\n`).join('');
}
