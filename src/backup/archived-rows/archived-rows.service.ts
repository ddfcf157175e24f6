/**
 * Reads rows of one table out of a scheduled archive, so that a row that was lost can be compared and written again. The archive
 * is read up to the end of the table: its checksums, which follow the tables, are compared by rehearsals and restores.
 */
import { Injectable } from '@nestjs/common';
import { busy } from '../../common/errors/app-error';
import { Slots } from '../../admission/slots';
import type { ArchivedTable } from '../../copies/archived-objects';
import { type Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { ProjectEntity } from '../../projects/project.entity';
import { ProjectsService } from '../../projects/projects.service';
import { ArchiveReader } from '../archive/archive-reader';
import { type OpenArchive, openArchive } from '../archive/open-archive';
import { BackupDestination } from '../schedule/backup-destination';
import { BackupPassphrase } from '../schedule/backup-passphrase';
import { type BackupRun, RunRepository } from '../schedule/run.repository';
import { archiveNotFound, tableNotArchived } from './archived-rows.errors';
import { copyLines, fieldsOf } from './copy-rows';
import { type ReadableTable, ReadableTableRepository } from './readable-table.repository';

export interface RowSearch {
  /** `schema.name` */
  readonly table: string;
  /** Rows whose column has exactly this text. */
  readonly where?: { readonly column: string; readonly value: string };
  /** Rows with this text in a column, ignoring case. */
  readonly text?: string;
  readonly limit: number;
}

export interface FoundRows {
  readonly columns: readonly string[];
  readonly rows: Record<string, string | null>[];
  /** False: the limit of rows, bytes or time ended the search before the end of the table. */
  isComplete: boolean;
  /** Rows that are too long. */
  skipped: number;
}

interface Table {
  readonly archived: ArchivedTable;
  readonly readable: ReadableTable;
}

type Matcher = (values: Readonly<Record<string, string | null>>) => boolean;

/** Searches of all projects together; each project has one at a time. */
const SLOTS = { size: 4, waiting: 50, waitTimeoutMs: 60_000 } as const;
/** Milliseconds of one search. */
const TIME_LIMIT_MS = 60_000;
/** Bytes of the rows of one answer. */
const ANSWER_BYTES = 1024 * 1024;

@Injectable()
export class ArchivedRows {
  private readonly slots = new Slots(SLOTS.size, SLOTS.waiting, {
    perTenant: 1,
    waitTimeoutMs: SLOTS.waitTimeoutMs,
  });

  constructor(
    private readonly projects: ProjectsService,
    private readonly runs: RunRepository,
    private readonly destination: BackupDestination,
    private readonly passphrase: BackupPassphrase,
    private readonly tables: ReadableTableRepository,
    private readonly audit: AuditLogRepository,
  ) {}

  /** The kept archives of a project, newest first. @throws AppError 404 */
  async listArchives(projectId: string): Promise<BackupRun[]> {
    const { id } = await this.projects.get(projectId);
    return this.runs.listKept(id, this.destination.name);
  }

  /**
   * The tables of an archive that exist today and that the service role may read, with the columns of both.
   * @throws AppError 400 for a damaged archive or another passphrase, 404
   */
  async listTables(projectId: string, backupId: string, abandoned: AbortSignal): Promise<ReadableTable[]> {
    const project = await this.projects.get(projectId);
    return this.open(project, backupId, abandoned, async ({ header }) =>
      (await this.readableOf(project, header.tables)).map(({ readable }) => readable),
    );
  }

  /** @throws AppError 400 for a damaged archive or another passphrase, 404 */
  async findRows(
    projectId: string,
    backupId: string,
    search: RowSearch,
    { actor, abandoned }: { actor: Actor; abandoned: AbortSignal },
  ): Promise<FoundRows> {
    const project = await this.projects.get(projectId);
    return this.open(project, backupId, abandoned, async (archive, isOver) => {
      const [found] = await this.readableOf(project, archive.header.tables, search.table);
      if (!found) throw tableNotArchived();
      const { archived, readable } = found;
      if (search.where && !readable.columns.includes(search.where.column)) throw tableNotArchived();
      const details = { backup: backupId, table: search.table };
      await this.audit.write({ actor, action: 'backup.rows', projectId, details });
      return collect(archive, { archived, readable, search, isOver });
    });
  }

  private async readableOf(
    project: ProjectEntity,
    archived: readonly ArchivedTable[],
    wanted?: string,
  ): Promise<Table[]> {
    const tables = new Map(archived.map((table) => [keyOf(table), table]));
    return (await this.tables.listReadableTables(project, wanted)).flatMap(({ schema, name, columns }) => {
      const table = tables.get(keyOf({ schema, name }));
      if (!table) return [];
      const had = new Set(table.columns);
      const both = columns.filter((column) => had.has(column));
      return both.length === 0 ? [] : [{ archived: table, readable: { schema, name, columns: both } }];
    });
  }

  /** @param work gets a function that tells whether the time is over; work then returns what it has found */
  private async open<T>(
    project: ProjectEntity,
    backupId: string,
    abandoned: AbortSignal,
    work: (archive: OpenArchive, isOver: () => boolean) => Promise<T>,
  ): Promise<T> {
    const kept = await this.runs.listKept(project.id, this.destination.name);
    const run = kept.find(({ id }) => id === backupId);
    if (!run) throw archiveNotFound();
    return this.slots.use(() => this.read(run, abandoned, work), tooManySearches, project.id, abandoned);
  }

  private async read<T>(
    { subject, archive, bytes }: BackupRun,
    abandoned: AbortSignal,
    work: (archive: OpenArchive, isOver: () => boolean) => Promise<T>,
  ): Promise<T> {
    const passphrase = this.passphrase.get();
    const input = await this.destination.read(subject, archive, Number(bytes));
    const signal = AbortSignal.any([abandoned, AbortSignal.timeout(TIME_LIMIT_MS)]);
    // A stalled store must not occupy a slot.
    const end = (): void => void input.destroy(tooSlow());
    signal.addEventListener('abort', end, { once: true });
    const members = new ArchiveReader(input).members();
    try {
      return await work(await openArchive(members, passphrase), () => signal.aborted);
    } catch (error) {
      throw signal.aborted ? tooSlow() : error;
    } finally {
      signal.removeEventListener('abort', end);
      await members.return(undefined as never);
      input.destroy();
    }
  }
}

async function collect(
  { members }: OpenArchive,
  { archived, readable, search, isOver }: Table & { search: RowSearch; isOver: () => boolean },
): Promise<FoundRows> {
  const found: FoundRows = { columns: readable.columns, rows: [], isComplete: false, skipped: 0 };
  const matches = matcherOf(search);
  try {
    for (;;) {
      const { value: member, done } = await members.next();
      // Tables without a row have a member, too.
      if (done) throw tableNotArchived();
      if (member.name === archived.member) {
        found.isComplete = await addRows(found, member.chunks, { archived, matches, limit: search.limit });
        return found;
      }
    }
  } catch (error) {
    if (isOver() && found.rows.length > 0) return found;
    throw error;
  }
}

/** @returns true at the end of the table */
async function addRows(
  found: FoundRows,
  chunks: AsyncIterable<Buffer>,
  { archived, matches, limit }: { archived: ArchivedTable; matches: Matcher; limit: number },
): Promise<boolean> {
  const places = found.columns.map((name) => [name, archived.columns.indexOf(name)] as const);
  let bytes = 0;
  for await (const line of copyLines(chunks)) {
    if (line === null) {
      found.skipped += 1;
      continue;
    }
    const fields = fieldsOf(line, archived.columns.length);
    const row = Object.fromEntries(places.map(([name, place]) => [name, fields[place] ?? null]));
    if (!matches(row)) continue;
    bytes += line.length;
    if (found.rows.length === limit || bytes > ANSWER_BYTES) return false;
    found.rows.push(row);
  }
  return true;
}

function matcherOf({ where, text }: RowSearch): Matcher {
  const wanted = text?.toLowerCase();
  return (row) =>
    (!where || row[where.column] === where.value) &&
    (wanted === undefined ||
      Object.values(row).some((value) => value !== null && value.toLowerCase().includes(wanted)));
}

const keyOf = ({ schema, name }: Pick<ArchivedTable, 'schema' | 'name'>): string => `${schema}\0${name}`;

const tooManySearches = (): ReturnType<typeof busy> =>
  busy('Another search in a backup of this project is running: try again in a moment');
const tooSlow = (): ReturnType<typeof busy> =>
  busy(`Nothing was found in the backup within ${TIME_LIMIT_MS / 1000} seconds`);
