/** `plinth db diff`: compares the schema of a project with another schema. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { ARCHIVED_SCHEMA } from '../backup/archive/archive-format';
import { ArchiveReader } from '../backup/archive/archive-reader';
import { dataOf, type ProjectSummary } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { readMigrations } from './migration-files';
import { diffOf, SchemaObjects, schemaObjects } from './schema-text';

export function addDbCommands(program: Command, context: CommandContext): void {
  program
    .command('db')
    .description('the schemas of projects')
    .command('diff <project>')
    .description('show how the schema of a project differs from another schema; exit code 1 if it does')
    .requiredOption(
      '--from <source>',
      'a directory of migrations, the backup of a project, or another project (id or slug)',
    )
    .action(async (name: string, { from }: { from: string }) => {
      const project = await context.server.findProject(name);
      const [before, after] = [
        await schemaOf(context, from, project),
        await schemaOfProject(context, project.id),
      ];
      const diff = diffOf({ name: from, objects: before }, { name: project.slug, objects: after });
      context.print({ project: project.slug, from, diff }, () => diff);
      if (diff !== '') context.reportFailure('The schemas differ.');
      else context.remark('The schemas are equal.');
    });
}

async function schemaOf(
  context: CommandContext,
  source: string,
  project: ProjectSummary,
): Promise<SchemaObjects> {
  const facts = await stat(source).catch(() => null);
  if (facts?.isDirectory()) return schemaOfMigrations(context, source, project);
  if (facts) return schemaOfArchive(source);
  return schemaOfProject(context, (await context.server.findProject(source)).id);
}

async function schemaOfProject({ server }: CommandContext, id: string): Promise<SchemaObjects> {
  return schemaObjects(await text(await server.stream('GET', `/projects/${id}/schema`, {})));
}

/** Applies the migrations to a temporary project. */
async function schemaOfMigrations(
  context: CommandContext,
  directory: string,
  { settings }: ProjectSummary,
): Promise<SchemaObjects> {
  const files = await readMigrations(directory);
  const { api } = context;
  const slug = `plinth-diff-${randomBytes(6).toString('hex')}`;
  const { id } = await dataOf(api.POST('/admin/v1/projects', { body: { name: slug, slug, settings } }));
  const params = { path: { id } };
  try {
    for (const { version, name, sql, file } of files) {
      const body = { migrations: [{ version, name, sql }] };
      await api.POST('/admin/v1/projects/{id}/migrations', { params, body }).catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error;
        throw new CliError(`${file}: ${error.message}`, EXIT.failed, error.answer);
      });
    }
    return await schemaOfProject(context, id);
  } finally {
    await api.DELETE('/admin/v1/projects/{id}', { params });
  }
}

/** Reads only the members with the schema, and so does not verify the archive. */
async function schemaOfArchive(path: string): Promise<SchemaObjects> {
  const members = new ArchiveReader(createReadStream(path)).members();
  const dumps: string[] = [];
  for await (const { name, chunks } of members)
    if (ARCHIVED_SCHEMA.includes(name)) dumps.push((await ArchiveReader.hold(chunks)).toString('utf8'));
  if (dumps.length === 0) throw new CliError(`${path} is not the backup of a project`, EXIT.failed);
  return schemaObjects(...dumps);
}
