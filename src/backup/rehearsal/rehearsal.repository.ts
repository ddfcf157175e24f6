/** The last rehearsal of each project and of the platform's records, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

export interface Rehearsal {
  readonly archive: string;
  readonly startedAt: Date;
  /** Null: it is being made, or its process ended. */
  readonly finishedAt: Date | null;
  readonly error: string | null;
  readonly rows: number | null;
  readonly files: number | null;
  /** Start of the last rehearsal without an error. */
  readonly lastGoodAt: Date | null;
}

@Injectable()
export class RehearsalRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param rehearsal null: removes the record */
  async save(subject: string, rehearsal: Rehearsal | null): Promise<void> {
    if (rehearsal === null) {
      await this.dataSource.query('delete from backup_rehearsals where subject = $1', [subject]);
      return;
    }
    const { archive, startedAt, finishedAt, error, rows, files, lastGoodAt } = rehearsal;
    await this.dataSource.query(
      `insert into backup_rehearsals (subject, archive, started_at, finished_at, error, rows, files, last_good_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (subject) do update set archive = excluded.archive, started_at = excluded.started_at,
         finished_at = excluded.finished_at, error = excluded.error, rows = excluded.rows, files = excluded.files,
         last_good_at = excluded.last_good_at`,
      [subject, archive, startedAt, finishedAt, error, rows, files, lastGoodAt],
    );
  }
}
