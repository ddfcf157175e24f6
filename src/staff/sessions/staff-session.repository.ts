/** Sessions of staff in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import type { Identity } from '../accounts/staff-member';
import {
  IdentityRow,
  MEMBERSHIPS_COLUMN,
  MEMBER_COLUMNS,
  toIdentity,
} from '../accounts/staff-member-columns';
import type { RequestOrigin } from '../../identity/request-origin';

/** Which of a session's tokens was presented. */
export type TokenAge = 'current' | 'next' | 'previous';

export interface StaffSession {
  readonly id: string;
  readonly identity: Identity;
  readonly presented: TokenAge;
  /** When the current token became it. */
  readonly rotatedAt: Date;
  /** When the next token was sent; null without one. */
  readonly nextAt: Date | null;
  readonly lastUsedAt: Date;
  /** When the staff member signed in, or proved their identity again. */
  readonly confirmedAt: Date;
  readonly expiresAt: Date;
}

interface SessionRow extends IdentityRow {
  readonly session_id: string;
  readonly presented: TokenAge;
  readonly rotated_at: Date;
  readonly next_at: Date | null;
  readonly last_used_at: Date;
  readonly confirmed_at: Date;
  readonly expires_at: Date;
}

/** A session in the list of its person. */
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
    const [row] = await this.dataSource.query<SessionRow[]>(
      `select s.id as session_id, s.rotated_at, s.next_at, s.last_used_at, s.expires_at,
         coalesce(s.confirmed_at, s.created_at) as confirmed_at,
         case $1::bytea when s.token_hash then 'current' when s.next_hash then 'next' else 'previous' end as presented,
         ${MEMBER_COLUMNS}, ${MEMBERSHIPS_COLUMN}
       from staff_sessions s join staff_people p on p.id = s.person_id and p.disabled_at is null
       where s.token_hash = $1::bytea or s.next_hash = $1::bytea or s.previous_hash = $1::bytea`,
      [hash],
    );
    if (!row) return null;
    return {
      id: row.session_id,
      identity: toIdentity(row),
      presented: row.presented,
      rotatedAt: row.rotated_at,
      nextAt: row.next_at,
      lastUsedAt: row.last_used_at,
      confirmedAt: row.confirmed_at,
      expiresAt: row.expires_at,
    };
  }

  /** Those that are not over, the most recently used first. */
  async list(memberId: string, now: Date, idleSince: Date): Promise<SessionRecord[]> {
    return this.dataSource.query<SessionRecord[]>(
      `select id, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt", address,
         user_agent as "userAgent"
       from staff_sessions where person_id = $1 and expires_at > $2 and last_used_at > $3
       order by last_used_at desc, id`,
      [memberId, now, idleSince],
    );
  }

  /** @returns false if the staff member has no such session */
  async endOf(memberId: string, id: string): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      'with ended as (delete from staff_sessions where person_id = $1 and id = $2 returning 1) select from ended',
      [memberId, id],
    );
    return rows.length === 1;
  }

  /** The staff member of a session; null if it has ended, or the account is disabled. */
  async identityOf(id: string, now: Date): Promise<Identity | null> {
    const [row] = await this.dataSource.query<IdentityRow[]>(
      `select ${MEMBER_COLUMNS}, ${MEMBERSHIPS_COLUMN}
       from staff_sessions s join staff_people p on p.id = s.person_id and p.disabled_at is null
       where s.id = $1 and s.expires_at > $2`,
      [id, now],
    );
    return row ? toIdentity(row) : null;
  }

  /** @returns the id of the session */
  async insert(session: NewSession, manager: EntityManager = this.dataSource.manager): Promise<string> {
    const { memberId, hash, now, expiresAt, origin } = session;
    const [row] = await manager.query<{ id: string }[]>(
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

  /** Adds a token that becomes the current one with its first use. */
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

  /** Notes that the staff member has proved their identity again, and replaces the token, which is accepted for a while. */
  async confirm(id: string, hash: Buffer, now: Date): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `with confirmed as (update staff_sessions set previous_hash = token_hash, token_hash = $2, next_hash = null,
         next_at = null, rotated_at = $3, last_used_at = $3, confirmed_at = $3 where id = $1 returning 1)
       select from confirmed`,
      [id, hash, now],
    );
    return rows.length === 1;
  }

  /** Replaces all tokens of a session at once. @returns false if the session has ended */
  async replace(id: string, hash: Buffer, now: Date): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `with replaced as (update staff_sessions set token_hash = $2, previous_hash = null, next_hash = null,
         next_at = null, rotated_at = $3, last_used_at = $3 where id = $1 returning 1)
       select from replaced`,
      [id, hash, now],
    );
    return rows.length === 1;
  }

  async end(id: string): Promise<void> {
    await this.dataSource.query('delete from staff_sessions where id = $1', [id]);
  }

  /** Ends the session with that token, if there is one. */
  async endByToken(hash: Buffer): Promise<void> {
    await this.dataSource.query(
      'delete from staff_sessions where token_hash = $1 or next_hash = $1 or previous_hash = $1',
      [hash],
    );
  }

  /** Ends the sessions of a person. @param except a session that goes on */
  async endAllOf(
    memberId: string,
    except: string | null = null,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<void> {
    await manager.query(
      'delete from staff_sessions where person_id = $1 and ($2::uuid is null or id <> $2)',
      [memberId, except],
    );
  }

  /** Removes sessions that have ended by themselves. */
  async sweep(now: Date, idleSince: Date): Promise<void> {
    await this.dataSource.query('delete from staff_sessions where expires_at <= $1 or last_used_at <= $2', [
      now,
      idleSince,
    ]);
  }
}
