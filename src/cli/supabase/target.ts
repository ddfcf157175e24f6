/** The project's database, where statements run one by one as its owner: existing objects stay, and failures are reported. */
import { Client, DatabaseError } from 'pg';
import { messageOf } from '../../common/errors/error-facts';
import type { Remark } from './source';

/** SQLSTATEs of an object that exists, or of a change that was made before. */
const EXISTS = new Set(['42P06', '42P07', '42710', '42723', '42701', '42P16', '55000']);

export class ImportTarget {
  readonly failed: Remark[] = [];
  done = 0;
  existing = 0;

  private constructor(
    readonly client: Client,
    private readonly isRehearsal: boolean,
  ) {}

  /** @param isRehearsal close() undoes all changes */
  static async open(url: string, isRehearsal: boolean): Promise<ImportTarget> {
    const client = new Client({ connectionString: url, application_name: 'plinth-import' });
    client.on('error', () => undefined);
    await client.connect();
    if (isRehearsal) await client.query('begin');
    // Tables without row-level security in the old database are created without it, and reported.
    await client.query(
      `set plinth.auto_rls = off; set statement_timeout = 0; set client_min_messages = error`,
    );
    return new ImportTarget(client, isRehearsal);
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /** @returns false if the object already exists, or cannot be created, which is reported */
  async runSql(object: string, text: string): Promise<boolean> {
    const [before, after] = this.isRehearsal ? ['savepoint one', 'release savepoint one'] : [];
    try {
      if (before) await this.client.query(before);
      await this.client.query(text);
      if (after) await this.client.query(after);
      this.done += 1;
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (this.isRehearsal) await this.client.query('rollback to savepoint one');
      const isAttached = error.code === '42809' && object.includes(' ATTACH ');
      if (EXISTS.has(error.code ?? '') || isAttached) this.existing += 1;
      else this.failed.push({ object, reason: messageOf(error) });
      return false;
    }
  }

  /** Work whose changes are undone. */
  async undone<T>(work: (client: Client) => Promise<T>): Promise<T> {
    await this.client.query(this.isRehearsal ? 'savepoint undone' : 'begin');
    try {
      return await work(this.client);
    } finally {
      await this.client.query(this.isRehearsal ? 'rollback to savepoint undone' : 'rollback');
    }
  }

  /** Like runSql(), for a statement whose object may be missing because its creation failed. */
  async tryRun(text: string): Promise<void> {
    const count = this.failed.length;
    await this.runSql('', text);
    this.failed.length = count;
  }
}
