/** The mail queue: its name, its jobs and its timing. */
export const MAIL_QUEUE = 'auth-mail';

export interface MailJob {
  readonly projectId: string;
  /** Id of the row in auth.outgoing_mails, and of the job. */
  readonly mailId: string;
  /** From MailSealer.sealRequest(): the job writes the mail from it if the mail does not exist (RequestedMails). */
  readonly request?: string;
}

/** About six hours with the default delay of 10 seconds, which doubles each time. */
export const MAIL_ATTEMPTS = 12;
/** Milliseconds after which a job runs that was not released. */
export const UNRELEASED_DELAY_MS = 15_000;
/** Milliseconds after which a mail that does not exist will never be written: no transaction lasts longer. */
export const NEVER_WRITTEN_AFTER_MS = 120_000;
/** Seconds that a failed job is kept. */
export const FAILED_JOB_SECONDS = 30 * 86_400;
