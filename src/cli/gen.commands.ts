/** `plinth gen types`. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { sign } from 'jsonwebtoken';
import { codeOf } from '../common/errors/error-facts';
import { type AdminClient, dataOf, type ProjectText, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';

/** Milliseconds between two requests of --watch. */
const WATCH_MS = 1_000;
/** Seconds that a token for another role is valid. */
const TOKEN_SECONDS = 60;

interface Options {
  readonly lang: string;
  readonly role: string;
  readonly output?: string;
  readonly watch?: true;
}

export function addGenCommands(program: Command, context: CommandContext): void {
  program
    .command('gen')
    .description('generate code from the schema of a project')
    .command('types <project>')
    .description('print TypeScript types for tables, views, functions, enums and composite types')
    .addOption(
      new Option('--lang <language>', 'row types, or the Database type of supabase-js')
        .choices(['typescript', 'supabase'])
        .default('typescript'),
    )
    .option('--role <role>', 'the database role whose privileges decide what the types show', 'service_role')
    .option('-o, --output <file>', 'write to a file, if its content changes; default: standard output')
    .option('--watch', 'follow changes of the schema until interrupted; needs --output')
    .action(async (project: string, options: Options) => {
      if (options.watch && options.output === undefined) {
        throw new CliError('--watch needs a file: add --output', EXIT.usage);
      }
      const source = await TypesSource.open(context.server, project, options);
      const { text } = await source.read();
      await show(text, options, context);
      if (options.watch) await watch(source, options, context);
    });
}

/** The types of one project, with credentials of a role that the admin API's keys give. */
class TypesSource {
  private keys: Schema<'ProjectKeysWithSecret'> | undefined;
  private etag: string | null = null;

  private constructor(
    private readonly server: AdminClient,
    private readonly project: { readonly id: string; readonly slug: string },
    private readonly options: Pick<Options, 'lang' | 'role'>,
  ) {}

  /** @param name id or slug. @throws CliError when there is no such project */
  static async open(
    server: AdminClient,
    name: string,
    options: Pick<Options, 'lang' | 'role'>,
  ): Promise<TypesSource> {
    return new TypesSource(server, await server.findProject(name), options);
  }

  /** @throws CliError */
  async read(): Promise<ProjectText> {
    this.etag = null;
    const document = await this.readChange();
    if (!document) throw new CliError('The response of the server contains no types', EXIT.failed);
    return document;
  }

  /** The types if they have changed since the last call, else null. @throws CliError */
  async readChange(): Promise<ProjectText | null> {
    const { lang } = this.options;
    const path = `/p/${encodeURIComponent(this.project.slug)}/types.ts?lang=${encodeURIComponent(lang)}`;
    try {
      const document = await this.server.findDocument(path, {
        ...(await this.credentials()),
        etag: this.etag,
      });
      if (document) this.etag = document.etag;
      return document;
    } catch (error) {
      // The keys may have been rotated.
      this.keys = undefined;
      throw error;
    }
  }

  private async credentials(): Promise<{ apikey: string; bearer: string }> {
    const { role } = this.options;
    const params = { path: { id: this.project.id } };
    this.keys ??= await dataOf(this.server.api.GET('/admin/v1/projects/{id}/keys', { params }));
    const { anon_key: anon, service_role_key: service, jwt_secret: secret } = this.keys;
    if (role === 'service_role') return { apikey: service, bearer: service };
    if (role === 'anon') return { apikey: anon, bearer: anon };
    return {
      apikey: anon,
      bearer: sign({ role }, secret, { algorithm: 'HS256', expiresIn: TOKEN_SECONDS }),
    };
  }
}

/** Prints the types or, if they are written to a file, the outcome. */
async function show(text: string, { output, lang, role }: Options, context: CommandContext): Promise<void> {
  if (output === undefined) return context.print({ lang, role, types: text }, () => text);
  const changed = await writeIfChanged(output, text);
  context.print({ file: output, changed }, () => `${output}: ${changed ? 'written' : 'unchanged'}\n`);
}

/** Does not rewrite an unchanged file, so that no compiler starts again. */
async function writeIfChanged(file: string, text: string): Promise<boolean> {
  const known = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (known === text) return false;
  // Renames a complete file, so that no compiler reads half of one.
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text);
  await rename(temporary, file);
  return true;
}

/** Outlives restarts of the server. Ends when it is interrupted, or when the project is deleted. */
async function watch(source: TypesSource, options: Options, context: CommandContext): Promise<void> {
  const signal = context.environment.untilInterrupted();
  let failed = false;
  while (await pause(signal)) {
    try {
      const changed = await source.readChange();
      if (changed) await show(changed.text, options, context);
      if (failed) context.remark('The server answers again.');
      failed = false;
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode === EXIT.notFound) throw error;
      if (!failed) context.remark(`${error.message} Waiting for it.`);
      failed = true;
    }
  }
}

/** False if the signal was received. */
function pause(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const stop = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve(true);
    }, WATCH_MS);
    signal.addEventListener('abort', stop, { once: true });
  });
}
