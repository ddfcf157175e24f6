/** Facts about the install, kept in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Advisory lock: replicas that start together do a thing once. The number is arbitrary. */
const FACTS_LOCK = 7_046_103;

@Injectable()
export class PlatformFactsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Does something once in the life of the install. The next start repeats it after a failure, so it must be
   * idempotent.
   * @returns null when it was done before
   */
  async once<T>(fact: string, work: () => Promise<T>): Promise<T | null> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.query('select pg_advisory_lock($1)', [FACTS_LOCK]);
      const known = (await runner.query('select from platform_facts where name = $1', [fact])) as unknown[];
      if (known.length > 0) return null;
      const result = await work();
      await runner.query('insert into platform_facts (name) values ($1)', [fact]);
      return result;
    } finally {
      await runner.query('select pg_advisory_unlock($1)', [FACTS_LOCK]);
      await runner.release();
    }
  }
}
