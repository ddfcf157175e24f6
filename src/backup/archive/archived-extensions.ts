/** Decides which extensions of an archive the admin role creates. Their names are a stranger's input. */
import { Inject, Injectable } from '@nestjs/common';
import { BACKUP_CONFIG, BackupConfig } from '../../config/app-config';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { ArchivedExtension } from '../../copies/archived-objects';
import { extensionsNotAllowed } from '../backup.errors';

@Injectable()
export class ArchivedExtensions {
  constructor(
    @Inject(BACKUP_CONFIG) private readonly config: BackupConfig,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  /**
   * The extensions that the owner did not create. One that PostgreSQL trusts is harmless, no matter who creates it; others may
   * reach files, programs or the network, so the operator must allow them by name. PostgreSQL reports one that the server lacks.
   * @throws AppError 400
   */
  async forAdmin(extensions: readonly ArchivedExtension[]): Promise<readonly ArchivedExtension[]> {
    const byAdmin = extensions.filter(({ by_owner: byOwner }) => !byOwner);
    const inDoubt = byAdmin
      .map(({ name }) => name)
      .filter((name) => !this.config.restoredExtensions.includes(name));
    if (inDoubt.length === 0) return byAdmin;
    const refused = await this.untrusted(inDoubt);
    if (refused.length > 0) throw extensionsNotAllowed(refused);
    return byAdmin;
  }

  private async untrusted(names: readonly string[]): Promise<string[]> {
    const find = `select name from pg_catalog.pg_available_extension_versions where name = any($1)
      group by name having not pg_catalog.bool_and(trusted) order by name`;
    return new DatabaseServer(this.platformUrl).asAdmin(MAINTENANCE_DATABASE, async (client) => {
      const { rows } = await client.query<{ name: string }>(find, [names]);
      return rows.map(({ name }) => name);
    });
  }
}
