/** What the mail queue is called and what its jobs say. */
export const MAIL_QUEUE = 'auth-mail';

export interface MailJob {
  readonly projectId: string;
  /** Row of auth.outgoing_mails; also the job's id. */
  readonly mailId: string;
  /** What the mail is written from if it is not there: sealed, in base64 (RequestedMails). */
  readonly request?: string;
}

/** About six hours with the default delay of 10 seconds, which doubles each time. */
export const MAIL_ATTEMPTS = 12;
/** Milliseconds that a job waits for its mail to be written before it runs by itself. */
export const UNRELEASED_DELAY_MS = 15_000;
/** Milliseconds after which a mail that was not written never will be: longer than any transaction lasts. */
export const NEVER_WRITTEN_AFTER_MS = 120_000;
/** Seconds that a failed job is kept. */
export const FAILED_JOB_SECONDS = 30 * 86_400;
