/**
 * Collects the history of projects and writes it once a second. A request costs one lookup. Of a busy project
 * only a sample is kept, in which failures and slow requests take precedence.
 */
import {
  BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  OnApplicationBootstrap,
} from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import type { HistoryEntry } from './history-entry';
import { HistoryRepository, type NewEntry } from './history.repository';

const FLUSH_MS = 1_000;
const UPKEEP_MS = 60_000;
const DAY_MS = 86_400_000;
/** Maximum number of entries between two writes: ordinary and notable ones of a project, and all entries of a process. */
const MAX_ENTRIES = { ordinary: 20, notable: 50, all: 2_000 } as const;
/** Maximum entries of a project, and how many a process adds before it checks that limit again. */
const MAX_ROWS = 200_000;
const CHECKED_ROWS = 2_000;
const MAX_TEXT = 4_000;
/** Entries per statement, all of which become JSON in one step. */
const BATCH = 250;

interface Box {
  readonly entries: HistoryEntry[];
  ordinary: number;
  notable: number;
  leftOut: number;
}

@Injectable()
export class History implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(History.name);
  private boxes = new Map<string, Box>();
  private size = 0;
  /** Entries that were added since the limits were checked, by project. */
  private readonly added = new Map<string, number>();
  private flusher: NodeJS.Timeout | undefined;
  private upkeep: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private fault = '';

  constructor(
    private readonly repository: HistoryRepository,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
  ) {}

  onApplicationBootstrap(): void {
    this.upkeep = setInterval(() => void this.keepUp(), UPKEEP_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.upkeep);
    clearTimeout(this.flusher);
    await this.writing;
    await this.write();
  }

  /** Decides whether to keep an entry. If not, it is counted as left out. @param isNotable whether it failed or was slow */
  admits(projectId: string, isNotable: boolean): boolean {
    if (this.config.historyDays === 0) return false;
    let box = this.boxes.get(projectId);
    if (!box) this.boxes.set(projectId, (box = { entries: [], ordinary: 0, notable: 0, leftOut: 0 }));
    const kind = isNotable ? 'notable' : 'ordinary';
    if (box[kind] < MAX_ENTRIES[kind] && this.size < MAX_ENTRIES.all) {
      box[kind] += 1;
      this.size += 1;
      return true;
    }
    box.leftOut += 1;
    return false;
  }

  /** Call it only after admits(). */
  add(projectId: string, entry: HistoryEntry): void {
    this.boxes.get(projectId)?.entries.push(entry);
    this.flusher ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  /** Adds an entry, which is notable if it has an error. */
  note(projectId: string, entry: Omit<HistoryEntry, 'at'>): void {
    const at = this.clock.now() - (entry.ms ?? 0);
    if (this.admits(projectId, (entry.error ?? null) !== null)) this.add(projectId, { at, ...entry });
  }

  /** Removes entries older than HISTORY_DAYS, and of projects with new entries those beyond 64 MiB. */
  async keepUp(): Promise<void> {
    const { historyDays, historyBytes } = this.config;
    const due = [...this.added].filter(([, rows]) => rows >= CHECKED_ROWS).map(([id]) => id);
    await this.guard(async () => {
      await this.repository.removeBefore(new Date(this.clock.now() - historyDays * DAY_MS));
      if (due.length > 0) await this.repository.bound(due, MAX_ROWS, historyBytes);
      for (const id of due) this.added.set(id, 0);
    });
  }

  /**
   * A write in progress is not extended: if it takes long, the limits of kept entries are reached, and further entries are left
   * out.
   */
  private flush(): void {
    this.writing = this.write().then(() => {
      this.flusher = undefined;
      if (this.size > 0) this.flusher = setTimeout(() => this.flush(), FLUSH_MS).unref();
    });
  }

  private async write(): Promise<void> {
    const { boxes } = this;
    this.boxes = new Map();
    this.size = 0;
    const entries: NewEntry[] = [];
    for (const [id, box] of boxes) {
      const last = box.entries.length - 1;
      for (const [at, entry] of box.entries.entries())
        entries.push({ ...storable(entry), project_id: id, left_out: at === last ? box.leftOut : 0 });
      // A new process does not know how much is stored.
      this.added.set(id, (this.added.get(id) ?? CHECKED_ROWS) + box.entries.length);
    }
    for (let from = 0; from < entries.length; from += BATCH)
      await this.guard(() => this.repository.add(entries.slice(from, from + BATCH)));
  }

  /** Requests do not depend on their history: entries that cannot be written are lost. */
  private async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.fault = '';
    } catch (error) {
      const fault = messageOf(error);
      if (fault !== this.fault) this.logger.warn(`the history of requests could not be written: ${fault}`);
      this.fault = fault;
    }
  }
}

/** Removes NUL and unpaired surrogates, which PostgreSQL refuses and which a path, a role or a name in SQL can contain. */
function storable(entry: HistoryEntry): HistoryEntry {
  const text = <T extends string | null | undefined>(value: T): T =>
    (value?.slice(0, MAX_TEXT).replaceAll('\0', '\uFFFD').toWellFormed() as T) ?? value;
  const { path, role, error, statement } = entry;
  return { ...entry, path: text(path), role: text(role), error: text(error), statement: text(statement) };
}
