/** Set-up links of an installation without an owner, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';

@Injectable()
export class SetupRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(hash: Buffer, now: Date, expiresAt: Date): Promise<void> {
    await this.dataSource.query('delete from staff_setup_tokens where expires_at <= $1', [now]);
    await this.dataSource.query('insert into staff_setup_tokens (token_hash, expires_at) values ($1, $2)', [
      hash,
      expiresAt,
    ]);
  }

  async isValid(hash: Buffer, now: Date, manager: EntityManager = this.dataSource.manager): Promise<boolean> {
    const rows = await manager.query<unknown[]>(
      'select from staff_setup_tokens where token_hash = $1 and expires_at > $2',
      [hash, now],
    );
    return rows.length === 1;
  }

  /** Ends all links. */
  async clear(manager: EntityManager): Promise<void> {
    await manager.query('delete from staff_setup_tokens');
  }
}
