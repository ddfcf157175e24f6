/** Tokens of directories, and their data about people, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditEntry, AuditLogRepository } from '../install/audit/audit-log.repository';
import type { ScimLink } from './scim-people';

/** The scope of the directory: the people of the installation (null), or the users of a project. */
export type ScimScope = string | null;

/** `$1` is the scope. */
const OF_SCOPE = 'project_id is not distinct from $1';
const NO_LINK: ScimLink = { externalId: null, isDeactivated: false };

@Injectable()
export class ScimRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** Ends the former token. @param hash null: leaves no token @returns false if there was no token to end */
  async replaceToken(scope: ScimScope, hash: Buffer | null, now: Date, entry: AuditEntry): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const gone = await manager.query<[unknown[], number]>(`delete from scim_tokens where ${OF_SCOPE}`, [
        scope,
      ]);
      if (hash === null && gone[1] === 0) return false;
      if (hash !== null)
        await manager.query(
          'insert into scim_tokens (project_id, token_hash, created_at) values ($1, $2, $3)',
          [scope, hash, now],
        );
      await this.audit.write(entry, manager);
      return true;
    });
  }

  async isToken(scope: ScimScope, hash: Buffer): Promise<boolean> {
    const statement = `select from scim_tokens where ${OF_SCOPE} and token_hash = $2`;
    return (await this.dataSource.query<unknown[]>(statement, [scope, hash])).length > 0;
  }

  async findPersonId(scope: ScimScope, externalId: string): Promise<string | null> {
    const [row] = await this.dataSource.query<{ person_id: string }[]>(
      `select person_id from scim_people where ${OF_SCOPE} and external_id = $2 limit 1`,
      [scope, externalId],
    );
    return row?.person_id ?? null;
  }

  async links(scope: ScimScope, personIds: readonly string[]): Promise<(personId: string) => ScimLink> {
    const rows = await this.dataSource.query<(ScimLink & { id: string })[]>(
      `select person_id as id, external_id as "externalId", is_deactivated as "isDeactivated"
       from scim_people where ${OF_SCOPE} and person_id = any ($2::uuid[])`,
      [scope, personIds],
    );
    const byId = new Map(rows.map(({ id, ...link }) => [id, link]));
    return (personId) => byId.get(personId) ?? NO_LINK;
  }

  /** An external id names one person: it moves to them, even from an account that was deleted without the directory. */
  async setLink(scope: ScimScope, personId: string, { externalId, isDeactivated }: ScimLink): Promise<void> {
    await this.dataSource.query(
      `with former as (update scim_people set external_id = null where ${OF_SCOPE} and external_id = $3 and person_id <> $2)
       insert into scim_people (project_id, person_id, external_id, is_deactivated) values ($1, $2, $3, $4)
       on conflict (coalesce(project_id, ''), person_id)
       do update set external_id = excluded.external_id, is_deactivated = excluded.is_deactivated`,
      [scope, personId, externalId, isDeactivated],
    );
  }

  async removeLink(scope: ScimScope, personId: string): Promise<void> {
    await this.dataSource.query(`delete from scim_people where ${OF_SCOPE} and person_id = $2`, [
      scope,
      personId,
    ]);
  }
}
