/** Reads and writes auth.outgoing_mails: the mails to send, and the outcome of each attempt. */
import { Injectable } from '@nestjs/common';
import { Statement, StatementResult } from '../../database/statement';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { SHORT_TIMEOUT } from '../accounts/account-statements';
import {
  FAILED_MAIL_COLUMNS,
  FailedMail,
  MAX_LAST_ERROR,
  OUTGOING_MAIL_COLUMNS,
  OUTGOING_MAILS,
  OutgoingMail,
  TokenlessMail,
  toFailedMail,
  toOutgoingMail,
} from './outgoing-mail';
import { SlowProjects } from './slow-projects';

const REASON = 'mails are sent after the request that caused them';

/** Unsent mails. */
interface OutboxState {
  readonly ids: string[];
  /** Mails that are neither sent nor given up. */
  readonly waiting: number;
  /** Mails that were given up. */
  readonly failed: number;
}

@Injectable()
export class OutgoingMailRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly slow: SlowProjects,
  ) {}

  async insert(project: Project, mail: TokenlessMail): Promise<void> {
    const { id, userId, kind, recipient, sealed, now, expiresAt } = mail;
    await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:insert-mail',
      text: `insert into auth.outgoing_mails (id, user_id, kind, recipient, sealed, created_at, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7)`,
      values: [id, userId, kind, recipient, sealed, now, expiresAt],
    });
  }

  /** Counts an attempt. @returns null if the mail does not exist, was sent, or was given up */
  async claim(project: Project, id: string, now: Date): Promise<OutgoingMail | null> {
    const { rows } = await this.runStatement(project, {
      name: 'auth:claim-mail',
      text: `update auth.outgoing_mails m set attempts = m.attempts + 1, handled_at = $2
        from auth.outgoing_mails o left join auth.users u on u.id = o.user_id
        where o.id = $1 and m.id = o.id and m.sent_at is null and m.failed_at is null
        returning ${OUTGOING_MAIL_COLUMNS}`,
      values: [id, now],
    });
    return rows[0] ? toOutgoingMail(rows[0]) : null;
  }

  /** Erases the sealed content: afterwards only the recipient has the token. */
  async markSent(project: Project, id: string, now: Date): Promise<void> {
    await this.runStatement(project, {
      name: 'auth:mail-sent',
      text: 'update auth.outgoing_mails set sent_at = $2, sealed = null, last_error = null where id = $1',
      values: [id, now],
    });
  }

  /** @param givenUpAt null if there will be another attempt */
  async markFailed(project: Project, id: string, error: string, givenUpAt: Date | null): Promise<void> {
    await this.runStatement(project, {
      name: 'auth:mail-failed',
      text: 'update auth.outgoing_mails set last_error = $2, failed_at = $3 where id = $1 and sent_at is null',
      values: [id, error.slice(0, MAX_LAST_ERROR), givenUpAt],
    });
  }

  /** The ids of unsent mails without an attempt since `before`, and the numbers of all unsent mails. */
  async findUnsent(project: Project, before: Date, limit: number): Promise<OutboxState> {
    const [, found, counts] = await this.rls.systemBatch(project.database, REASON, [
      SHORT_TIMEOUT,
      { text: UNSENT, values: [before, limit] },
      { text: COUNT_UNSENT },
    ]);
    const count = new RecordReader(OUTGOING_MAILS, counts?.rows[0] ?? {});
    return {
      ids: (found?.rows ?? []).map((row) => new RecordReader(OUTGOING_MAILS, row).uuid('id')),
      waiting: count.integer('waiting', 0, Number.MAX_SAFE_INTEGER),
      failed: count.integer('failed', 0, Number.MAX_SAFE_INTEGER),
    };
  }

  /** Mails that were given up, the newest first. */
  async listFailed(project: Project, limit: number): Promise<FailedMail[]> {
    const { rows } = await this.runStatement(project, {
      text: `select ${FAILED_MAIL_COLUMNS} from auth.outgoing_mails
        where failed_at is not null order by created_at desc limit $1`,
      values: [limit],
    });
    return rows.map(toFailedMail);
  }

  /** Puts a mail that was given up back into the queue. @returns false if there is no such mail, or its token has expired */
  async retry(project: Project, id: string, now: Date): Promise<boolean> {
    const { rowCount } = await this.rls.systemQuery(project.database, 'the service-role key asks for it', {
      text: `update auth.outgoing_mails set failed_at = null, handled_at = $2
        where id = $1 and failed_at is not null and sent_at is null and expires_at > $2`,
      values: [id, now],
    });
    return rowCount === 1;
  }

  /** Fails after a few seconds: workers that serve all projects wait for it. */
  private async runStatement(project: Project, statement: Statement): Promise<Pick<StatementResult, 'rows'>> {
    const begin = performance.now();
    try {
      const [, result] = await this.rls.systemBatch(project.database, REASON, [SHORT_TIMEOUT, statement]);
      return { rows: result?.rows ?? [] };
    } finally {
      this.slow.measured(project.id, performance.now() - begin);
    }
  }
}

const UNSENT = `select id from auth.outgoing_mails
  where sent_at is null and failed_at is null and (handled_at is null or handled_at < $1)
  order by coalesce(handled_at, created_at) limit $2`;

const COUNT_UNSENT = `select count(*) filter (where failed_at is null)::int as waiting, count(failed_at)::int as failed
  from auth.outgoing_mails where sent_at is null`;
