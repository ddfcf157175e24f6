/** Facts about the installation, kept in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Advisory lock, so that only one of several replicas runs the work. The number is arbitrary. */
const METADATA_LOCK = 7_046_103;

@Injectable()
export class PlatformMetadataRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs `work` once in the life of the installation. After a failure the next start repeats it, so it must be
   * idempotent.
   * @returns null if it has run before
   */
  async once<T>(fact: string, work: () => Promise<T>): Promise<T | null> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.query('select pg_advisory_lock($1)', [METADATA_LOCK]);
      const known = (await runner.query('select from platform_facts where name = $1', [fact])) as unknown[];
      if (known.length > 0) return null;
      const result = await work();
      await runner.query('insert into platform_facts (name) values ($1)', [fact]);
      return result;
    } finally {
      await runner.query('select pg_advisory_unlock($1)', [METADATA_LOCK]);
      await runner.release();
    }
  }
}
