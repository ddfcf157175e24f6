/** PostgreSQL servers: version, privileges of Plinth's role, and their clocks. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import {
  capabilityWarnings,
  missingCapabilities,
  readCapabilities,
} from '../../database/platform/server-capabilities';
import { ProjectsService } from '../../projects/projects.service';
import { DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { TemplateDatabase } from '../../provisioning/template-database';
import { DoctorCheck, Finding } from '../finding';

/** Milliseconds by which a clock may differ, beside the time of the request that reads it. */
const CLOCK_TOLERANCE_MS = 2_000;

@Injectable()
export class DatabaseCheck extends DoctorCheck {
  readonly name = 'database';

  constructor(
    private readonly projects: ProjectsService,
    private readonly template: TemplateDatabase,
    private readonly clock: Clock,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {
    super();
  }

  async find(): Promise<Finding[]> {
    const servers = [new DatabaseServer(this.platformUrl), ...(await this.projects.listServersElsewhere())];
    const unique = new Map(servers.map((server) => [server.key, server]));
    const found = await Promise.all([...unique.values()].map((server) => this.findOn(server)));
    return found.flat();
  }

  private async findOn(server: DatabaseServer): Promise<Finding[]> {
    const address = `${server.host}:${server.port}`;
    try {
      return await server.asAdmin(MAINTENANCE_DATABASE, async (client) => [
        ...(await this.findCapabilities(server, client, address)),
        await this.findClock(client, address),
      ]);
    } catch (error) {
      return [
        this.failed(
          `PostgreSQL at ${address} cannot be used: ${messageOf(error)}`,
          'Start the server, and check the address and the role in DATABASE_URL or database_url.',
        ),
      ];
    }
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
        this.failed(`PostgreSQL at ${address}: ${fault}`, 'Run the statement above as a superuser.'),
      );
    }
    const { serviceBypassesRls } = await this.template.ensureOn(server);
    const warnings = capabilityWarnings(capabilities, serviceBypassesRls).map((warning) =>
      this.warning(
        `PostgreSQL at ${address}: ${warning}`,
        'See docs/administration.md, "On a PostgreSQL server of your own".',
      ),
    );
    return [
      this.ok(`PostgreSQL ${capabilities.version} at ${address}, as role ${capabilities.role}`),
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
        ...this.ok(`the clocks of this machine and of PostgreSQL at ${address} agree`),
        check: 'clock',
      };
    }
    return {
      ...this.failed(
        `the clocks of this machine and of PostgreSQL at ${address} differ by ${Math.round(difference / 1000)} s`,
        'Synchronise both with NTP (timedatectl set-ntp true): tokens, links and expiries depend on them.',
      ),
      check: 'clock',
    };
  }
}
