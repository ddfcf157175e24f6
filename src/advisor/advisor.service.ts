/** Examines a project's database, and lists its faults. The console and the doctor use the same checks. */
import { Injectable } from '@nestjs/common';
import { codeOf, messageOf } from '../common/errors/error-facts';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { startupOptions } from '../database/pools/session-state';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectEntity } from '../projects/project.entity';
import { Advice, AdviceCheck, MAX_FINDINGS, SEVERITIES, toAdvice } from './advice-check';
import { BackupAge } from './checks/backup-age.check';
import {
  BARE_AUTH_CALL,
  BLOAT,
  DUPLICATE_INDEX,
  FOREIGN_KEY,
  POLICY_COLUMN,
  SEQUENCE_END,
  UNUSED_INDEX,
} from './checks/performance.checks';
import { DEFINER_FUNCTION, DEFINER_VIEW, POLICY_TRUE, RLS_OFF } from './checks/security.checks';

/** Checks whose findings can be critical. */
const CRITICAL_CHECKS = [RLS_OFF, POLICY_TRUE, SEQUENCE_END] as const;

const CHECKS = [
  ...CRITICAL_CHECKS,
  DEFINER_VIEW,
  DEFINER_FUNCTION,
  FOREIGN_KEY,
  POLICY_COLUMN,
  BARE_AUTH_CALL,
  DUPLICATE_INDEX,
  UNUSED_INDEX,
  BLOAT,
] as const;

export const CHECK_NAMES: readonly string[] = [...CHECKS.map(({ name }) => name), BackupAge.check];

/** Milliseconds for one check: the owner chooses the size of the catalogs. */
const CHECK_MS = 5_000;
/** Milliseconds that a check waits for a lock on a catalog. */
const LOCK_MS = 1_000;
/** Milliseconds after which no further check begins. */
const ALL_MS = 20_000;
const CONNECT_MS = 10_000;

/** Keeps schemas of the owner out of the search path: their functions and operators could shadow PostgreSQL's. */
const SETTINGS = {
  options: startupOptions({
    search_path: 'pg_catalog',
    statement_timeout: String(CHECK_MS),
    lock_timeout: String(LOCK_MS),
  }),
  connectionTimeoutMillis: CONNECT_MS,
};

const QUERY_CANCELED = '57014';

export interface SkippedCheck {
  readonly check: string;
  readonly reason: string;
}

export interface Examination {
  /** The most severe first. */
  readonly advice: readonly Advice[];
  readonly skipped: readonly SkippedCheck[];
  /** Names of checks that found more than they report. */
  readonly truncated: readonly string[];
}

@Injectable()
export class Advisor {
  constructor(
    private readonly owner: OwnerDatabase,
    private readonly backups: BackupAge,
  ) {}

  /** All checks. A check that fails is skipped. @throws the driver's error when the database cannot be used */
  async examine(project: ProjectEntity): Promise<Examination> {
    const run = await this.runChecks(project, CHECKS);
    const backups = await this.backups.find(project);
    return run.with(BackupAge.check, backups).result();
  }

  /** Critical advice only, for an overview of many projects. @throws as examine() */
  async findCritical(project: ProjectEntity): Promise<readonly Advice[]> {
    const { advice } = (await this.runChecks(project, CRITICAL_CHECKS)).result();
    return advice.filter(({ severity }) => severity === 'critical');
  }

  private runChecks(project: ProjectEntity, checks: readonly AdviceCheck<never>[]): Promise<Run> {
    return this.owner.use(
      project,
      'the advisor reads the catalogs',
      async (client) => {
        const run = new Run();
        for (const check of checks) await run.add(client, check);
        return run;
      },
      SETTINGS,
    );
  }
}

/** The outcome of checks that run one after the other. */
class Run {
  private readonly until = performance.now() + ALL_MS;
  private readonly advice: Advice[] = [];
  private readonly skipped: SkippedCheck[] = [];
  private readonly truncated: string[] = [];

  async add(client: BoundedClient, { name, text, toFinding }: AdviceCheck<never>): Promise<void> {
    if (performance.now() > this.until) {
      this.skipped.push({ check: name, reason: `the checks before it took more than ${ALL_MS / 1000} s` });
      return;
    }
    try {
      const { rows } = await client.query<never>(text);
      if (rows.length > MAX_FINDINGS) this.truncated.push(name);
      this.with(name, rows.slice(0, MAX_FINDINGS).map(toFinding));
    } catch (error) {
      this.skipped.push({ check: name, reason: reasonOf(error) });
    }
  }

  with(check: string, findings: readonly Parameters<typeof toAdvice>[1][]): this {
    this.advice.push(...findings.map((finding) => toAdvice(check, finding)));
    return this;
  }

  result(): Examination {
    const { skipped, truncated } = this;
    const rank = ({ severity }: Advice): number => SEVERITIES.indexOf(severity);
    return { advice: this.advice.sort((a, b) => rank(a) - rank(b)), skipped, truncated };
  }
}

function reasonOf(error: unknown): string {
  if (codeOf(error) === QUERY_CANCELED) return `it took more than ${CHECK_MS / 1000} s`;
  return messageOf(error).slice(0, 200);
}
