/** Checks whether changes of tables can be followed on each server, and how much log their replication slots keep. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { ProjectsService } from '../../projects/projects.service';
import type { Finding } from '../finding';
import { ServerCheck } from './server.check';

interface Facts {
  readonly level: string;
  readonly may: boolean;
  readonly freeSlots: number;
  readonly freeSenders: number;
  readonly feeds: number;
  /** Bytes of the log that the slots keep. */
  readonly kept: number;
  /** Slots without a reader. */
  readonly idle: string[];
}

const FACTS = `with feeds as (
    select s.slot_name::text as name, s.temporary, pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn) as kept
    from pg_replication_slots s where s.slot_name ~ '^plinth_feed_')
  select current_setting('wal_level') as level,
    (select rolsuper or rolreplication from pg_roles where rolname = current_user) as may,
    current_setting('max_replication_slots')::int - (select count(*)::int from pg_replication_slots) as "freeSlots",
    current_setting('max_wal_senders')::int - (select count(*)::int from pg_stat_replication) as "freeSenders",
    (select count(*)::int from feeds where not temporary) as feeds,
    coalesce((select max(kept) from feeds), 0)::float8 as kept,
    array(select name from feeds f where not temporary
          and not exists (select from feeds o where o.temporary and starts_with(o.name, f.name || '_'))) as idle`;

const MIB = 1024 * 1024;
/** A project takes two, and each further process one more. */
const FEW = 4;
/** Bytes of kept log at which a slot without a reader is more than a minute old. */
const MUCH = 2 * 1024 * MIB;

@Injectable()
export class ChangesCheck extends ServerCheck {
  readonly name = 'changes';

  constructor(projects: ProjectsService, @Inject(PLATFORM_URL) platformUrl: string) {
    super(projects, platformUrl);
  }

  protected failure(address: string, message: string): Finding {
    return this.failed(
      `${address}: replication slots cannot be read: ${message}`,
      'Check the connection to the server.',
    );
  }

  protected async findIn(client: Client, address: string): Promise<Finding[]> {
    const [facts] = (await client.query<Facts>(FACTS)).rows;
    if (!facts) return [];
    const found: Finding[] = [];
    if (facts.level !== 'logical')
      found.push(
        this.warning(
          `${address}: changes of tables cannot be followed: wal_level is "${facts.level}"`,
          "Run alter system set wal_level = 'logical' and restart the server.",
        ),
      );
    if (!facts.may)
      found.push(
        this.warning(
          `${address}: changes of tables cannot be followed: Plinth's role lacks REPLICATION`,
          'Run alter role ... replication as a superuser (on a managed server, grant its role for replication).',
        ),
      );
    if (Math.min(facts.freeSlots, facts.freeSenders) < FEW)
      found.push(
        this.warning(
          `${address}: ${facts.freeSlots} replication slots and ${facts.freeSenders} senders are free`,
          'Raise max_replication_slots and max_wal_senders: each project with subscriptions takes two slots, and one sender in each process.',
        ),
      );
    const kept = `keep ${Math.ceil(facts.kept / MIB)} MiB of the log`;
    if (facts.kept > MUCH)
      found.push(
        this.warning(
          `${address}: slots for changes of tables ${kept}; without a reader: ${facts.idle.join(', ') || 'none'}`,
          'Restart Plinth, which drops slots that nothing reads, and end transactions that are open for long.',
        ),
      );
    return found.length > 0
      ? found
      : [this.ok(`${address}: ${facts.feeds} slots for changes of tables ${kept}`)];
  }
}
