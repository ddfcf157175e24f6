/**
 * Second factors (TOTP, RFC 6238), the check that demands one in the request's own statement, and what the recovery of lost
 * mails needs.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class SecondFactors1790000000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table auth.factors (
        id uuid primary key,
        user_id uuid not null references auth.users (id) on delete cascade,
        kind text not null default 'totp' check (kind in ('totp')),
        name text not null check (length(name) <= 320),
        -- AES-256-GCM under MASTER_KEY, bound to project and factor.
        sealed_secret bytea not null,
        created_at timestamptz not null,
        -- Null until its owner proved with a code that the secret arrived.
        verified_at timestamptz,
        last_used_at timestamptz,
        -- Time step of the last code that was taken: it and all older ones are spent (RFC 6238, 5.2).
        last_step bigint not null default 0
      );
      create index factors_user_id on auth.factors (user_id);

      -- Like auth.require_session(session), for a token of one factor: PL403 when the project demands a second one, of
      -- users who have set one up ('enrolled') or of everybody ('always').
      create function auth.require_session(session uuid, second_factor text) returns void language plpgsql stable as $$
      declare
        owner uuid;
      begin
        select s.user_id into owner from auth.sessions s join auth.users u on u.id = s.user_id
          where s.id = session and s.revoked_at is null and s.expires_at > now()
            and (u.banned_until is null or u.banned_until <= now());
        if not found then
          raise exception 'the session is over' using errcode = 'PL401';
        end if;
        if second_factor = 'always'
          or exists (select from auth.factors f where f.user_id = owner and f.verified_at is not null) then
          raise exception 'a second factor is needed' using errcode = 'PL403';
        end if;
      end $$;

      -- When a worker or the recovery of lost mails last had the mail in hand.
      alter table auth.outgoing_mails add column handled_at timestamptz;
      create index outgoing_mails_unsent on auth.outgoing_mails (coalesce(handled_at, created_at)) where sent_at is null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index auth.outgoing_mails_unsent;
      alter table auth.outgoing_mails drop column handled_at;
      drop function auth.require_session(uuid, text);
      drop table auth.factors;
    `);
  }
}
