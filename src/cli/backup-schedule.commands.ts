/** `plinth backup schedule`, `plinth backup run`, `plinth backup runs`, `plinth backup rehearse`, `plinth backup rows`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { dataOf, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext, list, table } from './command-context';
import { addCommands, operation } from './operation';
import { sizeOf } from './progress';

/** Milliseconds between two checks whether a rehearsal has finished. */
const POLL_MS = 500;

interface ScheduleOptions {
  readonly all?: boolean;
  readonly physical?: boolean;
  readonly at?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly keep?: string;
  readonly rehearseDays?: string;
  readonly off?: boolean;
  readonly remove?: boolean;
}

type Subjects = Schema<'BackupRequestDto'>;

export function addBackupScheduleCommands(backup: Command, context: CommandContext): void {
  addSchedule(backup, context);
  const run = 'start scheduled backups now: of a project, or of everything with --all';
  addForSubjects(backup, context, 'run', run, async (body) => {
    const answer = await dataOf(context.api.POST('/admin/v1/backups/runs', { body }));
    context.print(answer, () => `${answer.queued} queued; plinth backup runs lists the results\n`);
  });
  const rehearse = 'restore the newest archive into a scratch database, compare it, and remove it';
  addForSubjects(backup, context, 'rehearse', rehearse, (body) => rehearseNow(context, body));
  addCommands(backup, context, {
    'runs [project]': operation('GET /admin/v1/backups/runs', 'list the last runs of scheduled backups', {
      options: { limit: ['--limit <number>', 'runs to list', (option) => option.default('20')] },
      text: (runs) => table(runs.map(rowOfRun)),
    }),
    'archives <project>': operation(
      'GET /admin/v1/projects/{id}/backups',
      'list the kept archives of a project',
      { text: (kept) => table(kept.map(({ stored, ...archive }) => ({ ...archive, ...filesOf(stored) }))) },
    ),
    'rows <project> <backup> <table>': operation(
      'GET /admin/v1/projects/{id}/backups/{backup_id}/tables/{table}/rows',
      'find rows of a table, such as public.todos, in an archive',
      {
        options: {
          column: ['--column <name>', 'only rows whose column has the text of --value'],
          value: ['--value <text>', 'as PostgreSQL prints it'],
          search: ['--search <text>', 'only rows with this text in a column'],
          limit: ['--limit <number>', 'rows to print; default: 20'],
        },
        text: ({ rows, columns }) => table(rows, columns),
        after: ({ complete, skipped }, context) => {
          if (!complete) context.remark('The table may have more rows that fit');
          if (skipped > 0) context.remark(`Rows of more than 512 KiB that are left out: ${skipped}`);
        },
      },
    ),
  });
}

/** A command about a project, all projects, or the physical backups. */
function addForSubjects(
  backup: Command,
  context: CommandContext,
  name: string,
  description: string,
  work: (subjects: Subjects) => Promise<void>,
): void {
  backup
    .command(name)
    .description(description)
    .argument('[project]', 'id or slug')
    .option(
      '--all',
      'all projects, the records of the platform, and physical backups if they have a schedule',
    )
    .option('--physical', 'the physical backup of the install')
    .action(async (project: string | undefined, _options: object, command: Command) => {
      const { all, physical } = command.optsWithGlobals<ScheduleOptions>();
      await work({ ...(await targetOf(context, project, { all, physical })), physical });
    });
}

async function rehearseNow(context: CommandContext, body: Subjects): Promise<void> {
  const before = await rehearsals(context, body);
  await dataOf(context.api.POST('/admin/v1/backups/rehearsals', { body }));
  const results = await rehearsals(context, body, before);
  context.print(results, () => table(results.map(rowOfRehearsal)));
  const failed = results.filter(({ rehearsal }) => rehearsal?.error !== null).length;
  if (failed > 0) context.reportFailure(`${failed} of ${results.length} backups could not be restored`);
}

type Subject = Schema<'BackupSubjectResponse'>;

/** @param before the last rehearsals: waits until each of their subjects has finished a later rehearsal */
async function rehearsals(
  context: CommandContext,
  { project_id: id, physical }: Subjects,
  before?: readonly Subject[],
): Promise<Subject[]> {
  const keyOf = ({ project_id: of, slug }: Subject): string => of ?? slug;
  const wanted = physical ? 'physical' : id;
  const last = new Map(before?.map((one) => [keyOf(one), one.rehearsal?.started_at]));
  for (;;) {
    const { projects } = await dataOf(context.api.GET('/admin/v1/backups'));
    const found = projects.filter((one) =>
      before ? last.has(keyOf(one)) : wanted === undefined || keyOf(one) === wanted,
    );
    const isFinished = (one: Subject): boolean =>
      one.rehearsal !== null &&
      one.rehearsal.finished_at !== null &&
      one.rehearsal.started_at !== last.get(keyOf(one));
    if (!before || found.every(isFinished)) return found;
    await sleep(POLL_MS);
  }
}

function rowOfRehearsal({ slug, rehearsal }: Subject): Readonly<Record<string, unknown>> {
  return {
    project: slug,
    result: rehearsal?.error === null ? 'restored' : 'failed',
    rows: rehearsal?.rows,
    files: rehearsal?.files,
    archive: rehearsal?.archive,
    error: rehearsal?.error,
  };
}

function addSchedule(backup: Command, context: CommandContext): void {
  backup
    .command('schedule')
    .description('set, remove or list backup schedules')
    .argument('[project]', 'id or slug')
    .option('--all', 'the schedule of the install, for all projects without one of their own')
    .option('--physical', 'the schedule of physical backups of the install')
    .option('--at <hour>', 'daily at this hour, 0 to 23; default: 3')
    .option('--cron <expression>', 'five fields as in crontab, in place of --at')
    .option('--time-zone <name>', 'such as Europe/Berlin; default: UTC')
    .option('--keep <number>', 'archives to keep; default: 7')
    .option('--rehearse-days <number>', 'days between two rehearsals of a restore; default: none')
    .option('--off', 'make no backups of this project')
    .option('--remove', 'remove the schedule; that of the install holds for the project then')
    .action(async (name: string | undefined, _options: object, command: Command) => {
      // Commander gives an option that both commands have to the parent command.
      const { all = false, physical = false, ...options } = command.optsWithGlobals<ScheduleOptions>();
      if (name === undefined && !all && !physical) return show(context);
      const target = await targetOf(context, name, { all, physical });
      const params = { query: physical ? { physical: 'true' as const } : target };
      const path = '/admin/v1/backups/schedule';
      const result = options.remove
        ? await dataOf(context.api.DELETE(path, { params }))
        : await dataOf(context.api.PUT(path, { params, body: bodyOf(options) }));
      context.print(result, () => list(result));
    });
}

async function show(context: CommandContext): Promise<void> {
  const { destination, projects } = await dataOf(context.api.GET('/admin/v1/backups'));
  context.print(
    { destination, projects },
    () => `${table(projects.map(rowOfSubject))}Destination: ${destination}\n`,
  );
  const missing = projects.filter((subject) => subject.missing).length;
  if (missing > 0) context.reportFailure(`${missing} scheduled backups are missing`);
}

/** @throws CliError unless the command names one subject */
export function assertOneSubject(
  name: string | undefined,
  { all, physical }: Pick<ScheduleOptions, 'all' | 'physical'>,
): void {
  if ([all, physical, name !== undefined].filter(Boolean).length !== 1)
    throw new CliError('Specify a project, --all or --physical', EXIT.usage);
}

async function targetOf(
  context: CommandContext,
  name: string | undefined,
  options: Pick<ScheduleOptions, 'all' | 'physical'>,
): Promise<{ project_id?: string }> {
  assertOneSubject(name, options);
  return name === undefined ? {} : { project_id: (await context.server.findProject(name)).id };
}

function bodyOf({
  at,
  cron,
  timeZone,
  keep,
  rehearseDays,
  off,
}: ScheduleOptions): Schema<'BackupScheduleDto'> {
  return {
    hour: at === undefined ? undefined : Number(at),
    cron,
    time_zone: timeZone,
    keep: keep === undefined ? undefined : Number(keep),
    rehearse_days: rehearseDays === undefined ? undefined : Number(rehearseDays),
    enabled: !off,
  };
}

function rowOfSubject(subject: Subject): Readonly<Record<string, unknown>> {
  const { slug, schedule, store, last_success_bytes: bytes } = subject;
  const times = schedule?.enabled ? `${schedule.cron} ${schedule.time_zone}` : 'none';
  return {
    project: slug,
    schedule: times,
    keep: schedule?.keep ?? null,
    next: subject.next_at,
    'last backup': subject.last_success_at,
    size: bytes === null ? null : sizeOf(bytes),
    'last run': subject.last_status,
    rehearsed: subject.rehearsal?.last_good_at ?? null,
    ...(store ? { files: sizeOf(store.bytes), saved: sizeOf(store.saved_bytes) } : {}),
    error: subject.last_error,
  };
}

/** The stored files of an incremental archive. */
function filesOf(stored: Schema<'BackupRunResponse'>['stored']): Readonly<Record<string, unknown>> {
  return stored ? { files: sizeOf(stored.bytes), copied: sizeOf(stored.copied_bytes) } : {};
}

function rowOfRun(run: Schema<'BackupRunResponse'>): Readonly<Record<string, unknown>> {
  return {
    project: run.slug,
    started: run.started_at,
    seconds: run.seconds,
    status: run.status,
    size: run.bytes === null ? null : sizeOf(run.bytes),
    ...filesOf(run.stored),
    archive: run.removed_at === null ? run.archive : 'removed',
    error: run.error,
  };
}
