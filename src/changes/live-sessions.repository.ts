/** Which sessions of open sockets and streams are still valid, as auth.require_session() decides for requests. */
import { Injectable } from '@nestjs/common';
import { UUID } from '../common/text/uuid';
import type { ProjectDatabase } from '../database/pools/project-database';
import { RlsTransaction } from '../database/rls/rls-transaction';

@Injectable()
export class LiveSessionsRepository {
  constructor(private readonly rls: RlsTransaction) {}

  async findValid(database: ProjectDatabase, ids: readonly string[]): Promise<Set<string>> {
    const uuids = ids.filter((id) => UUID.test(id));
    const { rows } = await this.rls.systemQuery(
      database,
      'sockets and streams outlive the request that checked their session',
      {
        name: 'changes:sessions',
        text: `select s.id from auth.sessions s join auth.users u on u.id = s.user_id
        where s.id = any($1::uuid[]) and s.revoked_at is null and s.expires_at > now()
          and (u.banned_until is null or u.banned_until <= now())`,
        values: [`{${uuids.join()}}`],
      },
    );
    const valid = new Set(rows.map(({ id }) => String(id)));
    return new Set(ids.filter((id) => valid.has(id.toLowerCase())));
  }
}
