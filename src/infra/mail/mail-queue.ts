/** The mail queue: its name, its jobs and its timing. */
import type { JobsOptions } from 'bullmq';

export const MAIL_QUEUE = 'auth-mail';

export interface MailJob {
  readonly projectId: string;
  /** Id of the row in auth.outgoing_mails, and of the job. */
  readonly mailId: string;
  /** The encrypted mail of the installation, by PlatformMails; projectId is then empty. */
  readonly platformMail?: string;
}

/** About six hours with the default delay of 10 seconds, which doubles each time. */
const MAIL_ATTEMPTS = 12;

/** @param retryDelayMs delay before the second attempt; it doubles each time */
export const mailJobOptions = (mailId: string, retryDelayMs: number): JobsOptions => ({
  jobId: mailId,
  attempts: MAIL_ATTEMPTS,
  backoff: { type: 'exponential', delay: retryDelayMs },
  removeOnComplete: true,
  // The mail's row records that it was given up, and the mail can be queued again under its id.
  removeOnFail: true,
});
