/** The mail queue: its name, its jobs and its timing. */
import type { JobsOptions } from 'bullmq';

export const MAIL_QUEUE = 'auth-mail';

export interface MailJob {
  readonly projectId: string;
  /** Id of the row in auth.outgoing_mails, and of the job. */
  readonly mailId: string;
  /** From MailSealer.sealRequest(): the job writes the mail from it if the mail does not exist (RequestedMails). */
  readonly request?: string;
  /** A mail of the installation, sealed by PlatformMails; projectId is empty then. */
  readonly platformMail?: string;
}

/** About six hours with the default delay of 10 seconds, which doubles each time. */
const MAIL_ATTEMPTS = 12;
/** Milliseconds after which a job runs that was not released. */
export const UNRELEASED_DELAY_MS = 15_000;
/** Milliseconds after which a mail that does not exist will never be written: no transaction lasts longer. */
export const NEVER_WRITTEN_AFTER_MS = 120_000;
/** Seconds that a failed job is kept. */
const FAILED_JOB_SECONDS = 30 * 86_400;

/** @param retryDelayMs before the second attempt; doubles each time */
export const mailJobOptions = (mailId: string, retryDelayMs: number): JobsOptions => ({
  jobId: mailId,
  attempts: MAIL_ATTEMPTS,
  backoff: { type: 'exponential', delay: retryDelayMs },
  removeOnComplete: true,
  removeOnFail: { age: FAILED_JOB_SECONDS },
});
