/** Results of the checks of `plinth doctor`. */

export const FINDING_STATUSES = ['ok', 'warning', 'failed', 'skipped'] as const;
export type FindingStatus = (typeof FINDING_STATUSES)[number];

export interface Finding {
  /** Subject of the check: `database`, `disk`. */
  readonly check: string;
  readonly status: FindingStatus;
  /** The result in one line. */
  readonly message: string;
  /** Suggested fix; null where there is nothing to do. */
  readonly remedy: string | null;
}

export interface DoctorOptions {
  /** Address that a test mail is sent to; without it only the connection and the login are tested. */
  readonly mailTo: string | null;
}

/** One subject. A further check, such as the age of backups, is a subclass in the list of doctor.service.ts. */
export abstract class DoctorCheck {
  abstract readonly name: string;

  /** An error that it throws becomes a failed finding. */
  abstract find(options: DoctorOptions): Promise<Finding[]>;

  protected ok(message: string): Finding {
    return { check: this.name, status: 'ok', message, remedy: null };
  }

  protected skipped(message: string): Finding {
    return { check: this.name, status: 'skipped', message, remedy: null };
  }

  protected warning(message: string, remedy: string): Finding {
    return { check: this.name, status: 'warning', message, remedy };
  }

  protected failed(message: string, remedy: string): Finding {
    return { check: this.name, status: 'failed', message, remedy };
  }
}
