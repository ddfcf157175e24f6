/** Sessions of staff, and completed sign-ins of several steps, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { RequestOrigin } from '../../identity/request-origin';
import { ACCESS_COLUMNS, MemberAccess } from '../accounts/staff-member';
import { changesRow } from '../changes-row';

export interface StaffSession extends MemberAccess {
  readonly id: string;
  /** Which of the session's tokens was presented. */
  readonly presented: 'current' | 'next' | 'previous';
  /** The time at which the current token became current. */
  readonly rotatedAt: Date;
  /** The time at which the next token was sent; null without a next token. */
  readonly nextAt: Date | null;
  readonly lastUsedAt: Date;
  /** The time of the sign-in, or of the last proof of identity. */
  readonly confirmedAt: Date;
  readonly expiresAt: Date;
}

/** A session as its staff member's list shows it. */
export interface SessionRecord {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  readonly address: string | null;
  readonly userAgent: string | null;
}

interface NewSession {
  readonly memberId: string;
  readonly hash: Buffer;
  readonly now: Date;
  readonly expiresAt: Date;
  readonly origin: RequestOrigin;
}

@Injectable()
export class StaffSessionRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The session with that token, of a staff member whose account is not disabled. */
  async find(hash: Buffer): Promise<StaffSession | null> {
    const [session] = await this.dataSource.query<StaffSession[]>(
      `select s.id, s.rotated_at as "rotatedAt", s.next_at as "nextAt", s.last_used_at as "lastUsedAt",
         s.expires_at as "expiresAt", coalesce(s.confirmed_at, s.created_at) as "confirmedAt",
         case $1::bytea when s.token_hash then 'current' when s.next_hash then 'next' else 'previous' end as presented,
         ${ACCESS_COLUMNS}
       from staff_sessions s join staff_people p on p.id = s.person_id and p.disabled_at is null
       where s.token_hash = $1::bytea or s.next_hash = $1::bytea or s.previous_hash = $1::bytea`,
      [hash],
    );
    return session ?? null;
  }

  /** Lists sessions that have not ended, the most recently used first. */
  async list(memberId: string, now: Date, idleSince: Date): Promise<SessionRecord[]> {
    return this.dataSource.query<SessionRecord[]>(
      `select id, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt", address,
         user_agent as "userAgent"
       from staff_sessions where person_id = $1 and expires_at > $2 and last_used_at > $3
       order by last_used_at desc, id`,
      [memberId, now, idleSince],
    );
  }

  /** The staff member of a session; null if it has ended, or the account is disabled. */
  async accessOf(id: string, now: Date): Promise<MemberAccess | null> {
    const [access] = await this.dataSource.query<MemberAccess[]>(
      `select ${ACCESS_COLUMNS}
       from staff_sessions s join staff_people p on p.id = s.person_id and p.disabled_at is null
       where s.id = $1 and s.expires_at > $2`,
      [id, now],
    );
    return access ?? null;
  }

  /** @returns the id of the session */
  async insert({ memberId, hash, now, expiresAt, origin }: NewSession): Promise<string> {
    const [row] = await this.dataSource.query<{ id: string }[]>(
      `insert into staff_sessions
         (person_id, token_hash, rotated_at, created_at, last_used_at, expires_at, address, user_agent)
       values ($1, $2, $3, $3, $3, $4, $5, $6) returning id`,
      [memberId, hash, now, expiresAt, origin.ip, origin.userAgent],
    );
    if (!row) throw new Error('the session was not inserted');
    return row.id;
  }

  async touch(id: string, now: Date): Promise<void> {
    await this.dataSource.query('update staff_sessions set last_used_at = $2 where id = $1', [id, now]);
  }

  /** Adds a token that becomes the current token when it is first used. */
  async offer(id: string, hash: Buffer, now: Date): Promise<void> {
    await this.dataSource.query(
      'update staff_sessions set next_hash = $2, next_at = $3, last_used_at = $3 where id = $1',
      [id, hash, now],
    );
  }

  /** Makes the next token the current one; does nothing if another request has done so. */
  async promote(id: string, hash: Buffer, now: Date): Promise<void> {
    await this.dataSource.query(
      `update staff_sessions set previous_hash = token_hash, token_hash = next_hash, next_hash = null,
         next_at = null, rotated_at = $3, last_used_at = $3
       where id = $1 and next_hash = $2`,
      [id, hash, now],
    );
  }

  /**
   * Records a proof of identity, and replaces the token; the old token is still accepted for a while.
   * @returns false if the session has ended
   */
  async confirm(id: string, hash: Buffer, now: Date): Promise<boolean> {
    return changesRow(
      this.dataSource,
      `update staff_sessions set previous_hash = token_hash, token_hash = $2, next_hash = null,
         next_at = null, rotated_at = $3, last_used_at = $3, confirmed_at = $3 where id = $1 returning 1`,
      [id, hash, now],
    );
  }

  /** Replaces all tokens of a session immediately. @returns false if the session has ended */
  async replace(id: string, hash: Buffer, now: Date): Promise<boolean> {
    return changesRow(
      this.dataSource,
      `update staff_sessions set token_hash = $2, previous_hash = null, next_hash = null,
         next_at = null, rotated_at = $3, last_used_at = $3 where id = $1 returning 1`,
      [id, hash, now],
    );
  }

  /** @returns false if the staff member has no such session */
  async end(memberId: string, id: string): Promise<boolean> {
    const statement = 'delete from staff_sessions where person_id = $1 and id = $2 returning 1';
    return changesRow(this.dataSource, statement, [memberId, id]);
  }

  /** Ends the session with that token, if there is one. */
  async endByToken(hash: Buffer): Promise<void> {
    await this.dataSource.query(
      'delete from staff_sessions where token_hash = $1 or next_hash = $1 or previous_hash = $1',
      [hash],
    );
  }

  /** Ends the sessions of a staff member. @param except a session that continues */
  async endAllOf(memberId: string, except: string | null): Promise<void> {
    await this.dataSource.query(
      'delete from staff_sessions where person_id = $1 and ($2::uuid is null or id <> $2)',
      [memberId, except],
    );
  }

  /** Notes that a sign-in of several steps was completed. @returns false if it was before */
  async completeFlow(id: string, expiresAt: Date, now: Date): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `with swept as (delete from staff_used_flows where expires_at <= $3)
       insert into staff_used_flows (id, expires_at) values ($1, $2) on conflict do nothing returning 1`,
      [id, expiresAt, now],
    );
    return rows.length === 1;
  }

  /** Removes sessions that have expired. */
  async sweep(now: Date, idleSince: Date): Promise<void> {
    await this.dataSource.query('delete from staff_sessions where expires_at <= $1 or last_used_at <= $2', [
      now,
      idleSince,
    ]);
  }
}
