/** PostgreSQL servers: version, privileges of Plinth's role, and their clocks. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { Clock } from '../../common/time/clock';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import {
  capabilityWarnings,
  missingCapabilities,
  readCapabilities,
} from '../../database/platform/server-capabilities';
import { ProjectsService } from '../../projects/projects.service';
import type { DatabaseServer } from '../../provisioning/database-server';
import { TemplateDatabase } from '../../provisioning/template-database';
import type { Finding } from '../finding';
import { ServerCheck } from './server.check';

/** Milliseconds by which a clock may differ, in addition to the time of the request that reads it. */
const CLOCK_TOLERANCE_MS = 2_000;

@Injectable()
export class DatabaseCheck extends ServerCheck {
  readonly name = 'database';

  constructor(
    projects: ProjectsService,
    private readonly template: TemplateDatabase,
    private readonly clock: Clock,
    @Inject(PLATFORM_URL) platformUrl: string,
  ) {
    super(projects, platformUrl);
  }

  protected async findIn(client: Client, address: string, server: DatabaseServer): Promise<Finding[]> {
    return [...(await this.findCapabilities(server, client, address)), await this.findClock(client, address)];
  }

  protected failure(address: string, message: string): Finding {
    return this.failed(
      `${address} cannot be used: ${message}`,
      'Start the server, and check the address and the role in DATABASE_URL or database_url.',
    );
  }

  private async findCapabilities(
    server: DatabaseServer,
    client: Client,
    address: string,
  ): Promise<Finding[]> {
    const capabilities = await readCapabilities(client);
    const faults = missingCapabilities(capabilities);
    if (faults.length > 0) {
      return faults.map((fault) =>
        this.failed(`${address}: ${fault}`, 'Run the statement above as a superuser.'),
      );
    }
    const { serviceBypassesRls } = await this.template.ensureOn(server);
    const warnings = capabilityWarnings(capabilities, serviceBypassesRls).map((warning) =>
      this.warning(
        `${address}: ${warning}`,
        'See docs/reference/administration.md, "On a PostgreSQL server of your own".',
      ),
    );
    return [
      this.ok(
        `PostgreSQL ${capabilities.version} at ${server.host}:${server.port}, as role ${capabilities.role}`,
      ),
      ...warnings,
    ];
  }

  private async findClock(client: Client, address: string): Promise<Finding> {
    const before = this.clock.now();
    const { rows } = await client.query<{ now: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
    );
    const now = rows[0]?.now ?? 0;
    const difference = Math.max(before - now, now - this.clock.now(), 0);
    if (difference <= CLOCK_TOLERANCE_MS) {
      return {
        ...this.ok(`the clocks of this machine and of ${address} agree`),
        check: 'clock',
      };
    }
    return {
      ...this.failed(
        `the clocks of this machine and of ${address} differ by ${Math.round(difference / 1000)} s`,
        'Synchronise both with NTP (timedatectl set-ntp true): tokens, links and expiries depend on them.',
      ),
      check: 'clock',
    };
  }
}
