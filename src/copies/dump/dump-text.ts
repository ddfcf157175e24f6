/**
 * Converts the text of pg_dump, which is written for psql, to SQL that a restore can run. The owner's functions and comments are
 * part of the text, so the work must not grow faster than the text.
 */
import { Slices } from '../../common/time/slices';
import { notSupported } from '../copies.errors';

/** PostgreSQL 17 has this setting; pg_dump 18 writes it for every server. */
const TRANSACTION_TIMEOUT = /^SET transaction_timeout = 0;\n/m;
const TRANSACTION_TIMEOUT_SINCE = 170_000;
/** Only a superuser may create event triggers; Plinth's own already exist. A name has 63 bytes at most. */
const EVENT_TRIGGERS =
  /^--\n-- Name: [^\n]{1,63}; Type: EVENT TRIGGER; Schema: -; Owner: [^\n]{0,63}\n--\n\n[^;]*;\n/gm;
/** The first line for psql; its key is random, so no text of the project can contain it. */
const RESTRICT = /^\\restrict (\w+)\n/m;
/** Bytes of statements that are sent together. */
const BATCH_BYTES = 1024 * 1024;
/** Characters of statements that cannot be divided. pg_dump writes large objects in pieces of 16 KiB. */
const MAX_BATCH = 64 * 1024 * 1024;
/** Ends of lines at which a text of large objects can be divided. */
const WHOLE_STATEMENT =
  /^(SELECT pg_catalog\.(lo_create|lo_open|lowrite|lo_close)\([^;]*\)|BEGIN|COMMIT);\n?$/;

export interface DumpTarget {
  /** As in server_version_num. */
  readonly serverVersion: number;
  /** Schemas that already exist, for extensions. */
  readonly schemas: readonly string[];
  /** New names of roles by their old ones. */
  readonly roles: ReadonlyMap<string, string>;
}

/** Bytes of a section that are changed in one piece. */
const PIECE = 512 * 1024;
/** Characters from which on the definition of an object may be divided. */
const LONG_OBJECT = 4 * PIECE;
const BEGIN_OF_OBJECT = '\n--\n-- Name: ';

export class DumpText {
  /** Key of psql's commands \restrict and \unrestrict. */
  private key: string | undefined;

  /** Pending replacements of a first occurrence. Schemas come before all that could contain such a line. */
  private readonly once = new Map<RegExp, string>();

  constructor(private readonly target: DumpTarget) {
    this.once.set(RESTRICT, '');
    if (target.serverVersion < TRANSACTION_TIMEOUT_SINCE) this.once.set(TRANSACTION_TIMEOUT, '');
    for (const schema of target.schemas) {
      for (const name of [schema, `"${schema.replaceAll('"', '""')}"`])
        this.once.set(
          new RegExp(`\nCREATE SCHEMA ${escaped(name)};\n`),
          `\nCREATE SCHEMA IF NOT EXISTS ${name};\n`,
        );
    }
  }

  /** executable() of a whole section, in slices. */
  async section(dump: Buffer): Promise<string> {
    const slices = new Slices();
    const decoder = new TextDecoder();
    let [text, rest] = ['', ''];
    for (let at = 0; at < dump.length; at += PIECE) {
      rest += decoder.decode(dump.subarray(at, at + PIECE), { stream: at + PIECE < dump.length });
      const end = endOfWhole(rest);
      text += this.executable(rest.slice(0, end));
      rest = rest.slice(end);
      if (slices.isOver) await slices.yieldToLoop();
    }
    return text + this.executable(rest);
  }

  /** @param dump a section, or the next part of one */
  executable(dump: string): string {
    this.key ??= RESTRICT.exec(dump)?.[1];
    let text = dump.replace(EVENT_TRIGGERS, '');
    if (this.key !== undefined) text = text.replace(`\\unrestrict ${this.key}\n`, '');
    for (const [from, to] of this.once) {
      if (text.search(from) < 0) continue;
      text = text.replace(from, () => to);
      this.once.delete(from);
    }
    for (const [from, to] of this.target.roles) text = text.replaceAll(from, to);
    return text;
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** The end of the last whole object in a text. */
function endOfWhole(text: string): number {
  const end = text.lastIndexOf(BEGIN_OF_OBJECT) + 1;
  if (end > 0 || text.length < LONG_OBJECT) return end;
  return text.lastIndexOf('\n') + 1 || text.lastIndexOf(' ') + 1 || text.length;
}

/** The text of large objects in batches of whole statements. @throws AppError 400 for a batch that is too long */
export async function* statementBatches(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [batch, line] = ['', ''];
  for await (const chunk of chunks) {
    for (const part of decoder.decode(chunk, { stream: true }).split(/(?<=\n)/)) {
      line += part;
      if (!part.endsWith('\n')) continue;
      batch += line;
      const isWhole = batch.length >= BATCH_BYTES && WHOLE_STATEMENT.test(line);
      line = '';
      if (!isWhole) continue;
      yield batch;
      batch = '';
    }
    if (batch.length + line.length > MAX_BATCH)
      throw notSupported(`Statements about large objects are longer than ${MAX_BATCH} characters`);
  }
  yield batch + line + decoder.decode();
}
