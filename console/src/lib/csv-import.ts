/**
 * Imports a CSV file in batches while it is read. A refused batch is halved until the rows that the database refuses
 * are isolated; the other rows are imported.
 */
import { CsvParser, type NumberedRecord } from './csv';

const BATCH_ROWS = 500;
/** Number of characters in a batch. */
const BATCH_SIZE = 512 * 1024;
/** Number of refused rows after which the import stops, because the file probably does not match the table. */
const MAX_REFUSED = 100;

export interface RefusedRow extends NumberedRecord {
  readonly reason: string;
}

export interface ImportState {
  readonly imported: number;
  readonly refused: readonly RefusedRow[];
  /** Number of bytes of the file that were read. */
  readonly bytes: number;
}

interface ImportOptions {
  readonly file: Blob;
  /** Imports rows, all or none. */
  readonly send: (head: readonly string[], rows: readonly NumberedRecord[]) => Promise<void>;
  /** Returns the reason if the error is about the values of a row. Null ends the import. */
  readonly reasonOf: (error: unknown) => string | null;
  readonly onState: (state: ImportState) => void;
  readonly signal: AbortSignal;
}

export interface ImportOutcome extends ImportState {
  readonly head: readonly string[];
  /** True if the import ended before the end of the file, because too many rows were refused. */
  readonly isCut: boolean;
}

/** @throws the error that ended the import; the rows that onState() has counted are imported */
export async function importCsv(options: ImportOptions): Promise<ImportOutcome> {
  const { file, onState, signal } = options;
  const run = new ImportRun(options);
  const parser = new CsvParser();
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const decoder = new TextDecoder();
  const reader = file.stream().pipeThrough(counter).getReader();
  while (!run.isCut) {
    signal.throwIfAborted();
    const { value, done } = await reader.read();
    const text = decoder.decode(value, { stream: !done });
    await run.take([...parser.push(text), ...(done ? parser.end() : [])]);
    onState({ ...run.state, bytes });
    if (!done) continue;
    await run.flush();
    break;
  }
  await reader.cancel();
  onState({ ...run.state, bytes });
  return { ...run.state, bytes, head: run.head ?? [], isCut: run.isCut };
}

class ImportRun {
  head: readonly string[] | null = null;
  state: Omit<ImportState, 'bytes'> = { imported: 0, refused: [] };
  private waiting: NumberedRecord[] = [];
  private size = 0;

  constructor(private readonly options: ImportOptions) {}

  get isCut(): boolean {
    return this.state.refused.length >= MAX_REFUSED;
  }

  async take(records: readonly NumberedRecord[]): Promise<void> {
    for (const record of records) {
      if (!this.head) {
        this.head = record.fields.map((field) => field ?? '');
        continue;
      }
      this.waiting.push(record);
      this.size += record.fields.reduce((sum, field) => sum + (field?.length ?? 0) + 1, 0);
      if (this.waiting.length >= BATCH_ROWS || this.size >= BATCH_SIZE) await this.flush();
      if (this.isCut) return;
    }
  }

  async flush(): Promise<void> {
    const rows = this.waiting;
    this.waiting = [];
    this.size = 0;
    await this.send(rows);
  }

  private async send(rows: readonly NumberedRecord[]): Promise<void> {
    if (rows.length === 0 || this.isCut) return;
    const { send, reasonOf, signal } = this.options;
    signal.throwIfAborted();
    try {
      await send(this.head ?? [], rows);
      this.state = { ...this.state, imported: this.state.imported + rows.length };
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null) throw error;
      if (rows.length > 1) {
        const middle = Math.ceil(rows.length / 2);
        await this.send(rows.slice(0, middle));
        return this.send(rows.slice(middle));
      }
      this.state = { ...this.state, refused: [...this.state.refused, { ...rows[0]!, reason }] };
    }
  }
}
