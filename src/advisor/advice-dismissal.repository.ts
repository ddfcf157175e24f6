/** Dismissed pieces of advice, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Maximum number of dismissals per project: far more than the advice it has at any time. */
const MAX_DISMISSALS = 2_000;

export interface Dismissal {
  readonly at: Date;
  readonly actor: string;
}

@Injectable()
export class AdviceDismissalRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Keyed by the id of the advice. */
  async list(projectId: string): Promise<ReadonlyMap<string, Dismissal>> {
    const rows = await this.dataSource.query<(Dismissal & { readonly id: string })[]>(
      'select advice_id as id, at, actor from advice_dismissals where project_id = $1',
      [projectId],
    );
    return new Map(rows.map(({ id, at, actor }) => [id, { at, actor }]));
  }

  /** Does nothing for advice already dismissed; a new dismissal replaces the oldest when the limit is reached. */
  async add(projectId: string, adviceId: string, actor: string): Promise<void> {
    await this.dataSource.query(
      `insert into advice_dismissals (project_id, advice_id, actor) values ($1, $2, $3) on conflict do nothing`,
      [projectId, adviceId, actor],
    );
    await this.dataSource.query(
      `delete from advice_dismissals where project_id = $1 and advice_id in (
         select advice_id from advice_dismissals where project_id = $1 order by at desc offset ${MAX_DISMISSALS})`,
      [projectId],
    );
  }

  async remove(projectId: string, adviceId: string): Promise<void> {
    await this.dataSource.query('delete from advice_dismissals where project_id = $1 and advice_id = $2', [
      projectId,
      adviceId,
    ]);
  }
}
