/**
 * Values that an administrator need not choose. loadConfig() takes others from tests; processes that tests start preload a
 * script that changes this object.
 */
export interface Tuning {
  /** Milliseconds in which the embedded PostgreSQL must write its checkpoint and end. */
  databaseStopMs: number;
  /** bcrypt's cost: 2^cost rounds. */
  bcryptCost: number;
  /** scrypt's N for the passphrase of an archive: 32 MiB of memory and a few hundred milliseconds for each guess. */
  passphraseCost: number;
  /** Milliseconds before a failed mail is sent again; the delay doubles each time, for about six hours. */
  mailRetryDelayMs: number;
  /** Milliseconds between two searches for mails that the queue has lost. */
  mailRecoveryIntervalMs: number;
  /** Wrong passwords for one account before each further attempt must wait. */
  failuresPerAccount: number;
  /** Wrong passwords from one client address before each further attempt must wait, as a share of AUTH_REQUESTS_PER_MINUTE. */
  failureShare: number;
  /** Mails to one address that anybody may request before each further mail must wait. */
  mailsPerHour: number;
  /** Milliseconds without a response or progress after which a request to gcs or s3 counts as failed. */
  storageTimeoutMs: number;
  /** Milliseconds after which bytes without a row belong to no running upload. */
  orphanAgeMs: number;
  /** Minimum rate of a body: bytes per second, averaged over each window of milliseconds. */
  minBodyRate: number;
  bodyRateWindowMs: number;
  /** Milliseconds in which a body that is held in memory must be complete. */
  bodyTimeoutMs: number;
  /** Bytes of memory for all request bodies of a process; 12 times MAX_BODY_SIZE if that is more. */
  bufferedBodies: number;
  /**
   * Bytes of memory for all results of a process that wait to be sent; `resultsOfBudget` times MAX_RESULT_SIZE if that is more.
   */
  bufferedResults: number;
  resultsOfBudget: number;
  /** Milliseconds of the write-ahead log that is kept for subscribers of changes that return. */
  changeLogMs: number;
  /** Bytes of the write-ahead log that a database server may keep for a project. */
  changeLogBytes: number;
  /** Bytes of the history of each project. */
  historyBytes: number;
  /** Bytes of a file that is removed when the embedded PostgreSQL has no space. */
  ballastBytes: number;
}

const MIB = 1024 * 1024;

export const TUNING: Tuning = {
  databaseStopMs: 60_000,
  bcryptCost: 10,
  passphraseCost: 32_768,
  mailRetryDelayMs: 10_000,
  mailRecoveryIntervalMs: 60_000,
  failuresPerAccount: 10,
  failureShare: 1 / 6,
  mailsPerHour: 10,
  storageTimeoutMs: 30_000,
  orphanAgeMs: 3_600_000,
  minBodyRate: 1_024,
  bodyRateWindowMs: 30_000,
  bodyTimeoutMs: 300_000,
  bufferedBodies: 384 * MIB,
  bufferedResults: 256 * MIB,
  resultsOfBudget: 4,
  changeLogMs: 60_000,
  changeLogBytes: 1024 * MIB,
  historyBytes: 64 * MIB,
  ballastBytes: 64 * MIB,
};
