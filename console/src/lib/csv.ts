/** CSV (RFC 4180), for files that are imported and results that are saved. */

/** An empty field without quotes is null, `""` is an empty text. */
export type CsvRecord = readonly (string | null)[];

export interface NumberedRecord {
  readonly fields: CsvRecord;
  /** The line of the file on which the record begins, counted from 1. */
  readonly line: number;
}

/** Parses a text that arrives in pieces, which may end anywhere. Blank lines are skipped. */
export class CsvParser {
  private record: (string | null)[] = [];
  private field = '';
  private isQuoted = false;
  private hasQuotes = false;
  /** True after a quote within a quoted field, whose meaning the next character decides. */
  private afterQuote = false;
  private afterReturn = false;
  private isFirst = true;
  private line = 1;
  private startLine = 1;

  /** @returns the records that the piece completes */
  push(text: string): NumberedRecord[] {
    const records: NumberedRecord[] = [];
    for (const char of this.withoutMark(text)) {
      const isEndOfPair = char === '\n' && this.afterReturn;
      this.afterReturn = char === '\r';
      if (isEndOfPair && !this.isQuoted) continue;
      if ((char === '\n' && !isEndOfPair) || char === '\r') this.line++;
      if (this.isQuoted && !this.takeQuoted(char)) continue;
      this.takePlain(char, records);
    }
    return records;
  }

  /** @returns the last record, if the text does not end with a line break */
  end(): NumberedRecord[] {
    const records: NumberedRecord[] = [];
    this.endRecord(records);
    return records;
  }

  private withoutMark(text: string): string {
    if (!this.isFirst || text === '') return text;
    this.isFirst = false;
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  /** @returns true if the quotes have ended, and the character is the first after them */
  private takeQuoted(char: string): boolean {
    if (this.afterQuote) {
      this.afterQuote = false;
      if (char !== '"') {
        this.isQuoted = false;
        return true;
      }
      this.field += '"';
    } else if (char === '"') this.afterQuote = true;
    else this.field += char;
    return false;
  }

  private takePlain(char: string, records: NumberedRecord[]): void {
    if (char === '"' && this.field === '') this.isQuoted = this.hasQuotes = true;
    else if (char === ',') this.endField();
    else if (char === '\n' || char === '\r') this.endRecord(records);
    else this.field += char;
  }

  private endField(): void {
    this.record.push(this.field === '' && !this.hasQuotes ? null : this.field);
    this.field = '';
    this.hasQuotes = this.isQuoted = this.afterQuote = false;
  }

  private endRecord(records: NumberedRecord[]): void {
    if (this.record.length > 0 || this.field !== '' || this.hasQuotes) {
      this.endField();
      records.push({ fields: this.record, line: this.startLine });
      this.record = [];
    }
    this.startLine = this.line;
  }
}

/** Writes null as an empty field, and an empty text as `""`. */
export function toCsv(records: readonly CsvRecord[]): string {
  const field = (value: string | null): string => {
    if (value === null) return '';
    return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return records.map((record) => `${record.map(field).join(',')}\r\n`).join('');
}

/**
 * Returns the field in a form that spreadsheets do not read as a formula: Excel, Calc and Sheets evaluate fields that
 * begin with one of these characters. A leading apostrophe makes it a text. Numbers are unchanged.
 */
export function disarmed(field: string | null): string | null {
  if (field === null || !/^[=+\-@\t\r\n]/.test(field)) return field;
  return /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(field) ? field : `'${field}`;
}

/** Disarms each field of a CSV that arrives in pieces. */
export function disarmingStream(): TransformStream<string, string> {
  const parser = new CsvParser();
  const write = (records: NumberedRecord[]): string =>
    toCsv(records.map(({ fields }) => fields.map(disarmed)));
  return new TransformStream({
    transform: (text, controller) => controller.enqueue(write(parser.push(text))),
    flush: (controller) => controller.enqueue(write(parser.end())),
  });
}
