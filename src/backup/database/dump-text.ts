/** Makes SQL that a restore can run of the text of pg_dump, which is written for psql. */

/** PostgreSQL 17 has this setting; pg_dump 18 writes it for every server. */
const TRANSACTION_TIMEOUT = /^SET transaction_timeout = 0;\n/m;
const TRANSACTION_TIMEOUT_SINCE = 170_000;
/** Only a superuser may create event triggers; Plinth's own exist already. */
const EVENT_TRIGGERS =
  /^--\n-- Name: [^\n]*; Type: EVENT TRIGGER; Schema: -; Owner: [^\n]*\n--\n\n[^;]*;\n/gm;
/** The first line for psql; its key is random, so no text of the project can contain it. */
const RESTRICT = /^\\restrict (\w+)\n/m;
/** Bytes of statements that are sent together. */
const BATCH_BYTES = 1024 * 1024;
/** Ends of lines at which a text of large objects can be divided. */
const WHOLE_STATEMENT =
  /^(SELECT pg_catalog\.(lo_create|lo_open|lowrite|lo_close)\([^;]*\)|BEGIN|COMMIT);\n?$/;

export interface DumpTarget {
  /** As in server_version_num. */
  readonly serverVersion: number;
  /** Schemas that exist already, for extensions. */
  readonly schemas: readonly string[];
  /** New names of roles by their old ones. */
  readonly roles: ReadonlyMap<string, string>;
}

export class DumpText {
  /** Of psql's commands \restrict and \unrestrict. */
  private key: string | undefined;

  constructor(private readonly target: DumpTarget) {}

  /** @param dump a section, or the next part of one */
  executable(dump: string): string {
    this.key ??= RESTRICT.exec(dump)?.[1];
    let text = dump.replace(RESTRICT, '').replace(EVENT_TRIGGERS, '');
    if (this.key !== undefined) text = text.replace(`\\unrestrict ${this.key}\n`, '');
    if (this.target.serverVersion < TRANSACTION_TIMEOUT_SINCE) text = text.replace(TRANSACTION_TIMEOUT, '');
    for (const schema of this.target.schemas) {
      // The first one is the statement itself: schemas come before all that could contain such a line.
      for (const name of [schema, `"${schema.replaceAll('"', '""')}"`])
        text = text.replace(`\nCREATE SCHEMA ${name};\n`, () => `\nCREATE SCHEMA IF NOT EXISTS ${name};\n`);
    }
    for (const [from, to] of this.target.roles) text = text.replaceAll(from, to);
    return text;
  }
}

/** The text of large objects in batches of whole statements. */
export async function* statementBatches(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [batch, rest] = ['', ''];
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/(?<=\n)/);
    rest = lines.at(-1)?.endsWith('\n') ? '' : (lines.pop() ?? '');
    for (const line of lines) {
      batch += line;
      if (batch.length < BATCH_BYTES || !WHOLE_STATEMENT.test(line)) continue;
      yield batch;
      batch = '';
    }
  }
  yield batch + rest + decoder.decode();
}
