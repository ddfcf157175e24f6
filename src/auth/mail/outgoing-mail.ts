/** Rows of auth.outgoing_mails, read and checked: the owner of the project may have written anything into them. */
import type { QueryResultRow } from 'pg';
import { RecordReader } from '../../database/rows/record-reader';
import { MAX_EMAIL } from '../../identity/email-address';
import { MailKind } from './mail-kinds';

export const OUTGOING_MAILS = 'auth.outgoing_mails';
/** UTF-16 code units: a character has up to two. */
const MAX_KIND = 100;
const MAX_RECIPIENT = 2 * MAX_EMAIL;
const MAX_NAME = 640;
/** Characters. */
const MAX_LOCALE = 20;
export const MAX_LAST_ERROR = 500;
const MAX_ATTEMPTS = 2 ** 31 - 1;
/** Bytes. A token, an address and some language tags take less than two thousand. */
const MAX_SEALED = 16_384;

/** A mail that a worker is about to send. */
export interface OutgoingMail {
  /** A MailKind, unless the owner of the project changed it. */
  readonly kind: string;
  readonly recipient: string;
  readonly sealed: Buffer | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** True for a request, whose account is not known yet. */
  readonly isRequest: boolean;
  readonly userName: string;
  /** The language in `data.locale` of the account. */
  readonly userLocale: string | null;
}

/** A mail that was given up. */
export interface FailedMail {
  readonly id: string;
  readonly kind: string;
  readonly recipient: string;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly lastError: string | null;
}

/** A mail without a token: a notice, or a request for an address (RequestedMails). */
export interface TokenlessMail {
  readonly id: string;
  /** Null until a worker has found the account. */
  readonly userId: string | null;
  readonly kind: MailKind;
  readonly recipient: string;
  readonly sealed: Buffer;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** The columns of an OutgoingMail; `m` is auth.outgoing_mails and `u` auth.users. */
export const OUTGOING_MAIL_COLUMNS = `m.kind, m.recipient, m.sealed, m.created_at, m.expires_at, m.user_id is null as is_request,
  coalesce(u.name, '') as name,
  case jsonb_typeof(u.data -> 'locale') when 'string' then left(u.data ->> 'locale', ${MAX_LOCALE}) end as locale`;

export const FAILED_MAIL_COLUMNS = 'id, kind, recipient, created_at, attempts, last_error';

/** @param row with OUTGOING_MAIL_COLUMNS @throws AppError 500 for a value that the column cannot hold */
export function toOutgoingMail(row: QueryResultRow): OutgoingMail {
  const mail = new RecordReader(OUTGOING_MAILS, row);
  return {
    kind: mail.text('kind', MAX_KIND),
    recipient: mail.text('recipient', MAX_RECIPIENT),
    sealed: mail.bytesOrNull('sealed', MAX_SEALED),
    createdAt: mail.date('created_at'),
    expiresAt: mail.date('expires_at'),
    isRequest: mail.boolean('is_request'),
    userName: mail.text('name', MAX_NAME),
    userLocale: mail.textOrNull('locale', 2 * MAX_LOCALE),
  };
}

/** @param row with FAILED_MAIL_COLUMNS @throws AppError 500 for a value that the column cannot hold */
export function toFailedMail(row: QueryResultRow): FailedMail {
  const mail = new RecordReader(OUTGOING_MAILS, row);
  return {
    id: mail.uuid('id'),
    kind: mail.text('kind', MAX_KIND),
    recipient: mail.text('recipient', MAX_RECIPIENT),
    createdAt: mail.date('created_at'),
    attempts: mail.integer('attempts', 0, MAX_ATTEMPTS),
    lastError: mail.textOrNull('last_error', MAX_LAST_ERROR),
  };
}
