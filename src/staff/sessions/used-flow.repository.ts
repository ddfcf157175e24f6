/** Completed sign-ins of several steps, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Injectable()
export class UsedFlowRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @returns false if the flow was used before */
  async use(id: string, expiresAt: Date, now: Date): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `with swept as (delete from staff_used_flows where expires_at <= $3)
       insert into staff_used_flows (id, expires_at) values ($1, $2) on conflict do nothing returning 1`,
      [id, expiresAt, now],
    );
    return rows.length === 1;
  }
}
