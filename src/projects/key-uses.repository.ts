/** When the named keys and the S3 keys of projects were last used. Each process writes its own uses once a minute. */
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { messageOf } from '../common/errors/error-facts';
import { Clock } from '../common/time/clock';

const FLUSH_INTERVAL_MS = 60_000;

@Injectable()
export class KeyUses implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(KeyUses.name);
  /** Keys that were used since the last flush: their projects by their ids. Only verified keys are noted. */
  private used = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  note(projectId: string, keyId: string): void {
    this.used.set(keyId, projectId);
  }

  async of(projectId: string): Promise<ReadonlyMap<string, Date>> {
    await this.flush();
    const rows = await this.dataSource.query<{ key_id: string; last_used_at: Date }[]>(
      'select key_id, last_used_at from key_uses where project_id = $1',
      [projectId],
    );
    return new Map(rows.map(({ key_id, last_used_at }) => [key_id, last_used_at]));
  }

  private async flush(): Promise<void> {
    if (this.used.size === 0) return;
    const [keys, projects] = [[...this.used.keys()], [...this.used.values()]];
    this.used = new Map();
    try {
      await this.dataSource.query(
        `insert into key_uses as u (project_id, key_id, last_used_at)
         select p.id, g.key_id, $3::timestamptz from unnest($1::text[], $2::text[]) g (key_id, project_id)
         join projects p on p.id = g.project_id
         on conflict (project_id, key_id) do update
           set last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
        [keys, projects, new Date(this.clock.now())],
      );
    } catch (error) {
      this.logger.warn(`the last uses of keys were not written: ${messageOf(error)}`);
    }
  }
}
