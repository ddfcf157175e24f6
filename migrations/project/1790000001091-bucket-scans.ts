/** What the virus scan does with the files of a bucket. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class BucketScans1790000001091 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // A user who may change a bucket must not end its scan: only roles to which policies do not apply may.
    await runner.query(`
      alter table storage.buckets add column if not exists scan text
        check (scan in ('off', 'refuse', 'quarantine', 'mark'));
      create or replace function storage.guard_scan() returns trigger language plpgsql set search_path = '' as $$
      begin
        if new.scan is distinct from (case when tg_op = 'UPDATE' then old.scan end)
            and row_security_active('storage.buckets') then
          raise insufficient_privilege using message = 'only the service role sets the scan of a bucket';
        end if;
        return new;
      end $$;
      create or replace trigger guard_scan before insert or update on storage.buckets
        for each row execute function storage.guard_scan();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger guard_scan on storage.buckets;
      drop function storage.guard_scan();
      alter table storage.buckets drop column scan`);
  }
}
