/**
 * Refuses what exceeds a project's quotas. The use is read once a minute from the samples, for the projects of recent requests;
 * a request costs one lookup in a map that holds only projects near a limit.
 */
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../common/errors/error-facts';
import { Clock } from '../common/time/clock';
import { PLAN_QUOTAS } from '../config/app-config';
import type { PlanQuotas, PlanQuotasConfig } from '../config/plan-quotas';
import { RateCounter } from '../infra/coordination/rate-counter';
import type { Project } from '../projects/project';
import { ProjectRegistry } from '../projects/project-registry.service';
import {
  databaseFull,
  quotaLimits,
  quotaMark,
  type QuotaName,
  spentForNow,
  spentForToday,
} from './quota-limits';
import { QuotaUseRepository } from './quota-use.repository';
import { RequestRates } from '../admission/request-rates';

const READ_MS = 60_000;
const DAY_MS = 86_400_000;
const WARNING_CACHE_SIZE = 5_000;

interface Use {
  readonly databaseBytes: number;
  readonly requests: number;
  /** Midnight after the requests, in milliseconds since the epoch. */
  readonly dayEnds: number;
}

@Injectable()
export class ProjectQuotas implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ProjectQuotas.name);
  /** Projects that have used 80 % of a quota or more, by id. */
  private uses = new Map<string, Use>();
  /** The mark that was last logged, by quota and project. */
  private readonly logged = new LRUCache<string, number>({ max: WARNING_CACHE_SIZE });
  private readonly rates: RequestRates;
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> = Promise.resolve();

  constructor(
    private readonly registry: ProjectRegistry,
    private readonly repository: QuotaUseRepository,
    private readonly counter: RateCounter,
    private readonly clock: Clock,
    @Inject(PLAN_QUOTAS) private readonly plans: PlanQuotasConfig,
  ) {
    this.rates = new RequestRates(clock);
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.refresh(), READ_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.reading;
  }

  limitsOf(project: Project): PlanQuotas {
    return quotaLimits(project, this.plans);
  }

  /** Counts a request. @throws AppError 429 when the project has used its requests of this second, or of the day */
  assertMayRequest(project: Project): void {
    const rate = project.settings.requests_per_second ?? this.plans[project.plan].requests_per_second;
    const wait = rate === null ? 0 : this.rates.take(project.id, rate);
    if (rate !== null && wait > 0) throw spentForNow(rate, wait);
    const use = this.uses.get(project.id);
    if (use === undefined) return;
    const limit = this.limitsOf(project).requests_per_day;
    const left = use.dayEnds - this.clock.now();
    if (limit !== null && use.requests >= limit && left > 0) throw spentForToday('requests', limit, left);
  }

  /** @throws AppError 413 when the database has reached its quota */
  assertMayGrow(project: Project): void {
    const use = this.uses.get(project.id);
    if (use === undefined) return;
    const limit = this.limitsOf(project).database_quota_bytes;
    if (limit !== null && use.databaseBytes >= limit) throw databaseFull(limit);
  }

  /**
   * Counts a mail. Refused mails do not count, so that mails that were given back can be sent.
   * @throws AppError 429 when the project has used its mails of the day
   */
  async spendMail(project: Project): Promise<void> {
    const limit = this.limitsOf(project).mails_per_day;
    if (limit === null) return;
    const { count, allowed, resetAt } = await this.counter.hit(mailKey(project), limit, DAY_MS);
    if (!allowed) {
      await this.counter.undo(mailKey(project));
      throw spentForToday('mails', limit, resetAt - this.clock.now());
    }
    this.warn(project, 'mails', quotaMark(count, limit));
  }

  /** Takes back a mail that spendMail() counted but that is not sent. Never rejects. */
  async returnMail(project: Project): Promise<void> {
    if (this.limitsOf(project).mails_per_day === null) return;
    await this.counter
      .undo(mailKey(project))
      .catch((error: unknown) => this.logger.debug(`a mail was not given back: ${messageOf(error)}`));
  }

  /** Mails that were counted in the present window of 24 hours. Returns 0 without a limit, since they are not counted. */
  async mailsOf(project: Project): Promise<number> {
    const limit = this.limitsOf(project).mails_per_day;
    if (limit === null) return 0;
    return (await this.counter.peek(mailKey(project), limit, DAY_MS)).count;
  }

  /** Requests since midnight in UTC, as of the last sample. */
  async requestsOf(project: Project): Promise<number> {
    const [use] = await this.repository.read([project.id], this.clock.date());
    return use?.requests ?? 0;
  }

  /** The value of X-Quota-Warning, such as `database=80, requests=95`; null: nothing to warn of. */
  warningOf(project: Project): string | null {
    const use = this.uses.get(project.id);
    if (use === undefined) return null;
    const marks = this.marksOf(project, use).filter(([, percent]) => percent > 0);
    return marks.map(([name, percent]) => `${name}=${percent}`).join(', ') || null;
  }

  /** Reads the use of the projects of recent requests that have a quota. Never rejects. */
  refresh(): Promise<void> {
    this.reading = this.read().catch((error: unknown) =>
      this.logger.warn(`the use of quotas could not be read: ${messageOf(error)}`),
    );
    return this.reading;
  }

  private async read(): Promise<void> {
    const limited = new Map(
      this.registry
        .inUse()
        .filter((one) => this.isLimited(one))
        .map((one) => [one.id, one]),
    );
    const now = this.clock.now();
    const sampled = limited.size === 0 ? [] : await this.repository.read([...limited.keys()], new Date(now));
    const uses = new Map<string, Use>();
    for (const { id, databaseBytes, requests } of sampled) {
      const project = limited.get(id);
      if (!project) continue;
      const use = { databaseBytes: databaseBytes ?? 0, requests, dayEnds: now - (now % DAY_MS) + DAY_MS };
      const marks = this.marksOf(project, use);
      if (marks.some(([, percent]) => percent > 0)) uses.set(id, use);
      for (const [name, percent] of marks) this.warn(project, name, percent);
    }
    this.uses = uses;
  }

  private isLimited(project: Project): boolean {
    const { database_quota_bytes: bytes, requests_per_day: requests } = this.limitsOf(project);
    return bytes !== null || requests !== null;
  }

  private marksOf(project: Project, use: Use): [QuotaName, number][] {
    const limits = this.limitsOf(project);
    const isToday = use.dayEnds > this.clock.now();
    return [
      ['database', quotaMark(use.databaseBytes, limits.database_quota_bytes)],
      ['requests', isToday ? quotaMark(use.requests, limits.requests_per_day) : 0],
    ];
  }

  /** Logs each mark once, as long as the use does not fall below it. */
  private warn({ id, slug }: Project, name: QuotaName, percent: number): void {
    const key = `${name}:${id}`;
    if (percent > (this.logged.get(key) ?? 0))
      this.logger.warn(`quota_warning: ${percent} % of the ${name} quota of project ${slug} are used`);
    this.logged.set(key, percent);
  }
}

const mailKey = ({ id }: Project): string => `mails:${id}`;
