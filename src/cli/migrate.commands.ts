/** `plinth migrate [up]|status|new`: a project's own SQL migrations. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { dataOf, type Schema } from './admin-client';
import { CliError, ErrorAnswer, EXIT } from './cli-error';
import { CommandContext, table } from './command-context';
import { createMigration, MigrationFile, readMigrations } from './migration-files';

type AppliedMigration = Schema<'AppliedMigrationResponse'>;
type RunAnswer = Schema<'MigrationRunResponse'>;

interface UpOptions {
  readonly dryRun?: boolean;
  readonly outOfOrder?: boolean;
  readonly ignoreMissing?: boolean;
  readonly timeout?: number;
  readonly lockTimeout?: number;
}

interface Run extends UpOptions {
  readonly interruption: AbortSignal;
}

interface MigrationState extends Readonly<Record<string, unknown>> {
  readonly version: string;
  readonly name: string;
  readonly state: 'applied' | 'pending' | 'out of order' | 'changed' | 'missing';
  readonly applied_at: string | null;
}

const seconds = (text: string): number => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 3_600) {
    throw new InvalidArgumentError('It must be a number of seconds from 1 to 3600.');
  }
  return value;
};

export function addMigrateCommands(program: Command, context: CommandContext): void {
  const migrate = program.command('migrate').description("a project's own SQL migrations");
  addUp(migrate, context);
  addStatus(migrate, context);
  migrate
    .command('new <dir> <name...>')
    .description('create an empty migration; needs no server')
    .action(async (dir: string, words: string[]) => {
      const file = await createMigration(dir, words.join(' '), new Date());
      context.print({ file }, () => `${file}\n`);
    });
}

function addUp(migrate: Command, context: CommandContext): void {
  migrate
    .command('up <project> <dir>', { isDefault: true })
    .description('apply the pending migrations of a directory in order')
    .option('--dry-run', 'run them in one transaction that is rolled back')
    .option('--out-of-order', 'allow a migration whose version is below one that is applied')
    .option('--ignore-missing', 'allow applied migrations that the directory lacks')
    .addOption(new Option('--timeout <seconds>', 'for each migration; default: 600').argParser(seconds))
    .addOption(
      new Option('--lock-timeout <seconds>', 'to wait for another run; default: 60').argParser(seconds),
    )
    .action(async (name: string, dir: string, options: UpOptions) => {
      const { id, files, states } = await compared(context, name, dir);
      assertRunnable(states, files, options);
      const pending = files.filter(
        (_file, n) => states[n]?.state === 'pending' || states[n]?.state === 'out of order',
      );
      const answer = await (options.dryRun ? send : applyEach)(context, id, pending, {
        ...options,
        interruption: context.environment.untilInterrupted(),
      });
      context.print(answer, () => summaryOf(answer, options));
    });
}

function addStatus(migrate: Command, context: CommandContext): void {
  migrate
    .command('status <project> <dir>')
    .description('compare a directory with the applied migrations; exit code 1 if one is changed or missing')
    .action(async (name: string, dir: string) => {
      const { states } = await compared(context, name, dir);
      context.print(states, () => table(states));
      const faults = states.filter(({ state }) => !['applied', 'pending'].includes(state)).length;
      if (faults > 0) context.reportFailure(`${faults} migrations differ from those that were applied`);
    });
}

/** The files of a directory, and their states in the project. */
async function compared({ server, api }: CommandContext, name: string, directory: string) {
  const files = await readMigrations(directory);
  const { id } = await server.findProject(name);
  const params = { path: { id } };
  const applied = await dataOf(api.GET('/admin/v1/projects/{id}/migrations', { params }));
  return { id, files, states: statesOf(files, applied) };
}

/** The states of the files, in their order, and then the states of applied migrations without a file. */
function statesOf(files: readonly MigrationFile[], applied: readonly AppliedMigration[]): MigrationState[] {
  const byVersion = new Map(applied.map((one) => [BigInt(one.version), one]));
  const newest = applied.reduce(
    (newest, { version }) => (BigInt(version) > newest ? BigInt(version) : newest),
    -1n,
  );
  const ofFile = ({ version, name, sha256 }: MigrationFile): MigrationState => {
    const record = byVersion.get(BigInt(version));
    byVersion.delete(BigInt(version));
    if (!record) {
      const state = BigInt(version) < newest ? 'out of order' : 'pending';
      return { version, name, state, applied_at: null };
    }
    const state = record.sha256 === sha256 ? 'applied' : 'changed';
    return { version, name, state, applied_at: record.applied_at };
  };
  const states = files.map(ofFile);
  const missing = [...byVersion.values()].map(({ version, name, applied_at }): MigrationState => ({
    version,
    name,
    state: 'missing',
    applied_at,
  }));
  return [...states, ...missing];
}

/** @throws CliError before anything runs */
function assertRunnable(
  states: readonly MigrationState[],
  files: readonly MigrationFile[],
  { outOfOrder, ignoreMissing }: UpOptions,
): void {
  for (const [n, { state, version, name }] of states.entries()) {
    const place = files[n]?.file ?? `${version}_${name}`;
    if (state === 'changed')
      throw new CliError(`${place}: the file was changed after it was applied`, EXIT.failed);
    if (state === 'out of order' && !outOfOrder)
      throw new CliError(`${place}: a later migration is applied already (--out-of-order)`, EXIT.failed);
    if (state === 'missing' && !ignoreMissing)
      throw new CliError(`${place} is applied, but not in the directory (--ignore-missing)`, EXIT.failed);
  }
}

/** Sends a request for each migration, so that each can have the size of a request, and progress is visible. */
async function applyEach(
  context: CommandContext,
  id: string,
  pending: readonly MigrationFile[],
  options: Run,
): Promise<RunAnswer> {
  const answers: RunAnswer[] = [];
  for (const file of pending) {
    const answer = await send(context, id, [file], options);
    for (const { milliseconds, notices } of answer.applied) {
      for (const notice of notices) context.remark(`${file.file}: ${notice}`);
      context.remark(`applied ${file.version}_${file.name} (${milliseconds} ms)`);
    }
    answers.push(answer);
  }
  return {
    applied: answers.flatMap(({ applied }) => applied),
    skipped: answers.flatMap(({ skipped }) => skipped),
    untried: [],
  };
}

function send(
  context: CommandContext,
  id: string,
  files: readonly MigrationFile[],
  options: Run,
): Promise<RunAnswer> {
  const { dryRun, outOfOrder, timeout, lockTimeout, interruption } = options;
  const body = {
    migrations: files.map(({ version, name, sql }) => ({ version, name, sql })),
    dry_run: dryRun,
    out_of_order: outOfOrder,
    timeout_seconds: timeout,
    lock_timeout_seconds: lockTimeout,
  };
  const init = { params: { path: { id } }, body, signal: interruption };
  return dataOf(context.api.POST('/admin/v1/projects/{id}/migrations', init)).catch((error: unknown) => {
    throw interruption.aborted ? interrupted(files, options) : located(error, files);
  });
}

/** The server cancels a dry run when its client disconnects; otherwise it completes the migration that it has begun. */
function interrupted(files: readonly MigrationFile[], { dryRun, timeout = 600 }: UpOptions): CliError {
  const outcome = dryRun
    ? 'nothing was applied.'
    : `if the server has begun ${files[0]?.file ?? 'a migration'}, it completes it, or fails, within ${timeout} s. ` +
      '`plinth migrate status` shows the outcome.';
  return new CliError(`Interrupted: ${outcome}`, EXIT.failed);
}

/** `migrations/3_notes.sql:3:8: syntax error`, which editors and terminals link. */
function located(error: unknown, files: readonly MigrationFile[]): unknown {
  if (!(error instanceof CliError)) return error;
  const answer: ErrorAnswer | undefined = error.answer;
  const only = files.length === 1 ? files[0] : undefined;
  const { file } = files.find(({ version }) => version === answer?.migration?.version) ?? only ?? {};
  if (file === undefined) return error;
  const location = answer?.database?.location;
  const place = location ? `${file}:${location.line}:${location.column}` : file;
  return new CliError(`${place}: ${error.message}`, error.exitCode, error.answer);
}

function summaryOf({ applied, untried }: RunAnswer, { dryRun }: UpOptions): string {
  const count = (n: number): string => (n === 1 ? '1 migration' : `${n} migrations`);
  if (!dryRun) return applied.length === 0 ? 'Nothing to apply.\n' : `Applied ${count(applied.length)}.\n`;
  const tried = applied.map(({ version, name }) => `would apply ${version}_${name}\n`).join('');
  const left =
    untried.length === 0
      ? ''
      : `Not tried, because a dry run stops before the first migration without a transaction: ${untried.join(', ')}\n`;
  return `${tried}${left}` || 'Nothing to apply.\n';
}
