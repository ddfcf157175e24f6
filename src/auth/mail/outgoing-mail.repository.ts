/** Rows of auth.outgoing_mails: what the worker sends, and what became of it. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { Statement, StatementResult } from '../../database/pools/pipelined-query';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { MAX_EMAIL } from '../accounts/email-address';
import { SHORT_TIMEOUT } from '../accounts/short-timeout';
import { SlowProjects } from './slow-projects';

const REASON = 'mails are sent after the request that caused them';
const TABLE = 'auth.outgoing_mails';
/** UTF-16 code units, of which a character may have two. */
const MAX_KIND = 100;
const MAX_RECIPIENT = 2 * MAX_EMAIL;
const MAX_NAME = 640;
/** Characters. */
const MAX_LOCALE = 20;
const MAX_LAST_ERROR = 500;
const MAX_ATTEMPTS = 2 ** 31 - 1;
/** Bytes; a token, an address and some languages have less than two thousand. */
const MAX_SEALED = 16_384;

export interface OutgoingMailRow {
  readonly kind: string;
  readonly recipient: string;
  readonly sealed: Buffer | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly userName: string;
  /** The language that the user states in `data.locale`. */
  readonly userLocale: string | null;
}

export interface FailedMail {
  readonly id: string;
  readonly kind: string;
  readonly recipient: string;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly lastError: string | null;
}

/** A mail without a token. */
export interface Notice {
  readonly id: string;
  readonly userId: string;
  readonly kind: string;
  readonly recipient: string;
  readonly sealed: Buffer;
  readonly now: Date;
  readonly expiresAt: Date;
}

@Injectable()
export class OutgoingMailRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly slow: SlowProjects,
  ) {}

  async insert(project: Project, notice: Notice): Promise<void> {
    await this.rls.systemQuery(project.database, REASON, insertNotice(notice));
  }

  /** Counts an attempt. @returns null when the mail is not there, sent, or given up */
  async claim(project: Project, id: string, now: Date): Promise<OutgoingMailRow | null> {
    const { rows } = await this.run(project, {
      name: 'auth:claim-mail',
      text: `update auth.outgoing_mails m set attempts = m.attempts + 1, handled_at = $2 from auth.users u
        where m.id = $1 and m.sent_at is null and m.failed_at is null and u.id = m.user_id
        returning m.kind, m.recipient, m.sealed, m.created_at, m.expires_at, u.name,
          case jsonb_typeof(u.data -> 'locale') when 'string' then left(u.data ->> 'locale', ${MAX_LOCALE}) end as locale`,
      values: [id, now],
    });
    return rows[0] ? toOutgoingMail(rows[0]) : null;
  }

  /** Erases what was sealed: the token is with its receiver now. */
  async markSent(project: Project, id: string, now: Date): Promise<void> {
    await this.run(project, {
      name: 'auth:mail-sent',
      text: 'update auth.outgoing_mails set sent_at = $2, sealed = null, last_error = null where id = $1',
      values: [id, now],
    });
  }

  /** @param givenUpAt null when it will be tried again */
  async markFailed(project: Project, id: string, error: string, givenUpAt: Date | null): Promise<void> {
    await this.run(project, {
      name: 'auth:mail-failed',
      text: 'update auth.outgoing_mails set last_error = $2, failed_at = $3 where id = $1 and sent_at is null',
      values: [id, error.slice(0, MAX_LAST_ERROR), givenUpAt],
    });
  }

  /**
   * Unsent mails that nobody has had in hand since a time, taken in hand by this; and how the others stand.
   * @returns waiting: unsent and not given up, those included
   */
  async takeUntouched(
    project: Project,
    { now, before, limit }: { now: Date; before: Date; limit: number },
  ): Promise<{ ids: string[]; waiting: number; failed: number }> {
    const [, taken, counts] = await this.rls.systemBatch(project.database, REASON, [
      SHORT_TIMEOUT,
      {
        text: `update auth.outgoing_mails set handled_at = $1 where id in (
            select id from auth.outgoing_mails
            where sent_at is null and failed_at is null and coalesce(handled_at, created_at) < $2
            order by coalesce(handled_at, created_at) limit $3 for update skip locked)
          returning id`,
        values: [now, before, limit],
      },
      {
        text: `select count(*) filter (where failed_at is null)::int as waiting, count(failed_at)::int as failed
          from auth.outgoing_mails where sent_at is null`,
      },
    ]);
    return {
      ids: (taken?.rows ?? []).map((row) => new RecordReader(TABLE, row).uuid('id')),
      waiting: counts?.rows[0]?.waiting as number,
      failed: counts?.rows[0]?.failed as number,
    };
  }

  /** Mails that were given up, the newest first. */
  async listFailed(project: Project, limit: number): Promise<FailedMail[]> {
    const { rows } = await this.run(project, {
      text: `select id, kind, recipient, created_at, attempts, last_error from auth.outgoing_mails
        where failed_at is not null order by created_at desc limit $1`,
      values: [limit],
    });
    return rows.map(toFailedMail);
  }

  /** Takes a mail that was given up back. @returns false when there is none that could still be of use */
  async retry(project: Project, id: string, now: Date): Promise<boolean> {
    const { rowCount } = await this.rls.systemQuery(project.database, 'the service-role key asks for it', {
      text: `update auth.outgoing_mails set failed_at = null, handled_at = $2
        where id = $1 and failed_at is not null and sent_at is null and expires_at > $2`,
      values: [id, now],
    });
    return rowCount === 1;
  }

  /** Within a few seconds: the workers and the lists of all projects wait for it. */
  private async run(project: Project, statement: Statement): Promise<StatementResult> {
    const begin = performance.now();
    try {
      const [, result] = await this.rls.systemBatch(project.database, REASON, [SHORT_TIMEOUT, statement]);
      return result as StatementResult;
    } finally {
      this.slow.measured(project.id, performance.now() - begin);
    }
  }
}

/** @throws AppError 500 for a value that the project's owner put in its place */
function toOutgoingMail(row: QueryResultRow): OutgoingMailRow {
  const mail = new RecordReader(TABLE, row);
  return {
    kind: mail.text('kind', MAX_KIND),
    recipient: mail.text('recipient', MAX_RECIPIENT),
    sealed: mail.bytesOrNull('sealed', MAX_SEALED),
    createdAt: mail.date('created_at'),
    expiresAt: mail.date('expires_at'),
    userName: mail.text('name', MAX_NAME),
    userLocale: mail.textOrNull('locale', 2 * MAX_LOCALE),
  };
}

function toFailedMail(row: QueryResultRow): FailedMail {
  const mail = new RecordReader(TABLE, row);
  return {
    id: mail.uuid('id'),
    kind: mail.text('kind', MAX_KIND),
    recipient: mail.text('recipient', MAX_RECIPIENT),
    createdAt: mail.date('created_at'),
    attempts: mail.integer('attempts', 0, MAX_ATTEMPTS),
    lastError: mail.textOrNull('last_error', MAX_LAST_ERROR),
  };
}

function insertNotice(notice: Notice): Statement {
  return {
    name: 'auth:insert-mail',
    text: `insert into auth.outgoing_mails (id, user_id, kind, recipient, sealed, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      notice.id,
      notice.userId,
      notice.kind,
      notice.recipient,
      notice.sealed,
      notice.now,
      notice.expiresAt,
    ],
  };
}
