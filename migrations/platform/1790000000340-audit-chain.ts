/** The chain of hashes over the audit log. Existing records are chained in the order of their ids. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const CHAIN = `
  create table audit_chain (
    -- 1, 2, 3 ... without gaps, in the order of the commits.
    position bigint primary key,
    -- No foreign key: a record that was removed must be missed here.
    record_id bigint not null unique,
    previous_hash text not null,
    hash text not null
  );

  create index audit_log_actor on audit_log (actor, id);
  create index audit_log_action on audit_log (action, id);
  create index audit_log_at on audit_log (at);

  -- src/projects/audit-chain.ts computes the same hash.
  create function audit_record_hash(place bigint, previous text, record audit_log) returns text
  language sql stable set search_path = pg_catalog as $$
    select encode(sha256(convert_to(json_build_array(place, previous, record.id::text,
      to_char(record.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      record.actor, record.action, record.project_id, record.address, record.details)::text, 'UTF8')), 'hex')
  $$;

  create function append_to_audit_chain() returns trigger
  language plpgsql set search_path = pg_catalog, public as $$
  declare
    last audit_chain;
    place bigint;
    previous text;
  begin
    perform pg_advisory_xact_lock(7046106);
    select * into last from audit_chain order by position desc limit 1;
    place := coalesce(last.position, 0) + 1;
    previous := coalesce(last.hash, repeat('0', 64));
    insert into audit_chain
      values (place, new.id, previous, audit_record_hash(place, previous, new));
    return null;
  end
  $$;
`;

const EXISTING = `
  lock table audit_log in share row exclusive mode;
  do $$
  declare
    record audit_log;
    place bigint := 0;
    previous text := repeat('0', 64);
    current text;
  begin
    for record in select * from audit_log order by id loop
      place := place + 1;
      current := audit_record_hash(place, previous, record);
      insert into audit_chain values (place, record.id, previous, current);
      previous := current;
    end loop;
  end
  $$;
`;

/**
 * Deferred to the commit, so that the lock is held only while a transaction commits, whatever it does after it wrote its
 * record. A trigger, because during a rolling upgrade processes of the older version write records too.
 */
const TRIGGER = `
  create constraint trigger audit_chain_append after insert on audit_log
    deferrable initially deferred for each row execute function append_to_audit_chain();
`;

export class AuditChain1790000000340 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CHAIN + EXISTING + TRIGGER);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger audit_chain_append on audit_log;
      drop function append_to_audit_chain();
      drop function audit_record_hash(bigint, text, audit_log);
      drop index audit_log_actor, audit_log_action, audit_log_at;
      drop table audit_chain;`);
  }
}
