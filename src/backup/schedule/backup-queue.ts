/** Name and jobs of the queue of scheduled backups. */
export const BACKUP_QUEUE = 'backup';

export interface BackupJob {
  /** Id of a project, or PLATFORM. */
  readonly subject: string;
  /** The time that the backup is for, in milliseconds since the epoch. */
  readonly dueAt: number;
}
