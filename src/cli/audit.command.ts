/** `plinth audit`, `plinth audit export`, `plinth audit verify`. */
import type { Command } from 'commander';
import { pipeline } from 'node:stream/promises';
import { dataOf, type Schema } from './admin-client';
import { CommandContext, table } from './command-context';

const COLUMNS = ['at', 'actor', 'address', 'action', 'project_id', 'details'];

interface FilterOptions {
  readonly project?: string;
  readonly action?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly until?: string;
}

type Verification = Schema<'AuditVerification'>;

const FAULTS = {
  changed: 'its content is not what was hashed',
  removed: 'the record is missing',
  unlinked: 'the link does not continue the one before it',
  unchained: 'the record was written around the chain',
  head: 'the chain does not hold this head (any more)',
} as const;

export function addAuditCommand(program: Command, context: CommandContext): void {
  const audit = withFilters(program.command('audit'))
    .description('show changes and their authors, newest first')
    .option('--limit <entries>', 'number of entries', '50')
    .action(async (options: FilterOptions & { limit: string }) => {
      const query = { ...(await queryOf(context, options)), limit: Number(options.limit) };
      const entries = await dataOf(context.api.GET('/admin/v1/audit-log', { params: { query } }));
      context.print(entries, () => table(entries, COLUMNS));
    });
  addExport(audit, context);
  addVerify(audit, context);
}

function addExport(audit: Command, context: CommandContext): void {
  withFilters(audit.command('export'))
    .description('write entries to standard output, oldest first')
    .option('--format <format>', 'jsonl or csv', 'jsonl')
    .action(async (_options: object, command: Command) => {
      // Commander gives an option that both commands have to the parent command.
      const options = command.optsWithGlobals<FilterOptions & { format: string }>();
      const query = new URLSearchParams({ ...(await queryOf(context, options)), format: options.format });
      const response = await context.server.stream('GET', `/audit-log/export?${query.toString()}`, {});
      await pipeline(response, context.environment.stdout, { end: false });
    });
}

function addVerify(audit: Command, context: CommandContext): void {
  audit
    .command('verify')
    .description('verify the hash chain and print its head, to be stored outside this server')
    .option('--head <position:hash>', 'a head that was kept: the chain must still hold it')
    .action(async ({ head }: { head?: string }) => {
      const { checked, last } = await verifyAll(context, head);
      const report = { intact: last.broken === null, checked, head: last.head, broken: last.broken };
      const kept = last.head ? `${last.head.position}:${last.head.hash}` : 'none: the log is empty';
      context.print(report, () => `${checked} records are intact\nhead ${kept}\n`);
      if (last.broken) context.reportFailure(describe(last.broken));
    });
}

/** Verifies the chain slice by slice, until its end or the first fault. */
async function verifyAll(
  context: CommandContext,
  head: string | undefined,
): Promise<{ checked: number; last: Verification }> {
  let query: { head?: string | undefined; after?: number } = { head };
  let checked = 0;
  for (;;) {
    const last = await dataOf(context.api.GET('/admin/v1/audit-log/verify', { params: { query } }));
    checked += last.checked;
    if (last.next === null) return { checked, last };
    query = { after: last.next };
  }
}

function describe({ position, record_id: id, fault }: NonNullable<Verification['broken']>): string {
  const place = position === null ? '' : ` at position ${position}`;
  const record = id === null ? '' : ` (record ${id})`;
  return `The chain is broken${place}${record}: ${FAULTS[fault]}`;
}

function withFilters(command: Command): Command {
  return command
    .option('--project <project>', 'only this project, by id or slug; by id after its deletion')
    .option('--action <action>', 'only this action, such as project.create')
    .option('--actor <actor>', 'only this author')
    .option('--since <time>', 'only from this time on, such as 2026-01-01T08:00:00Z')
    .option('--until <time>', 'only before this time');
}

async function queryOf(context: CommandContext, options: FilterOptions): Promise<Record<string, string>> {
  const { action, actor, since, until, project } = options;
  // A deleted project has no slug any more, but its entries stay.
  const id = project && ((await context.server.findProjectIfAny(project))?.id ?? project);
  const query = { action, actor, since, until, project_id: id };
  return Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]));
}
