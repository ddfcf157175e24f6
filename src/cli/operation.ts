/** A command that calls one operation of the server, as data: route, options and output. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { paths } from '../../console/src/generated/openapi.js' with { 'resolution-mode': 'import' };
import { type CommandContext, list, table } from './command-context';

type Verb = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** `GET /admin/v1/projects/{id}`, for each operation of the server. */
type Route = {
  [Path in keyof paths]: {
    [V in Verb]: paths[Path][V] extends object ? `${Uppercase<V>} ${Path}` : never;
  }[Verb];
}[keyof paths];
type Operation<R extends Route> = R extends `${infer Method} ${infer Path extends keyof paths}`
  ? paths[Path][Lowercase<Method> & Verb]
  : never;
type Json<Content> = Content extends { content: { 'application/json': infer Body } } ? Body : object;
type Answer<R extends Route> =
  Operation<R> extends { responses: infer All } ? Json<All[keyof All & (200 | 201 | 202)]> : object;
/** The query of GET and DELETE, the body of the other methods. */
type Input<R extends Route> = R extends `${'GET' | 'DELETE'} ${string}`
  ? Operation<R> extends { parameters: { query?: infer Query } }
    ? NonNullable<Query>
    : object
  : Operation<R> extends { requestBody?: infer Body }
    ? Json<NonNullable<Body>>
    : object;
type Values = Readonly<Record<string, unknown>>;

/** The arguments and the parameters of the path, by their names. `project` is the slug. */
export type Arguments = Readonly<Record<string, string>>;

type OptionText = readonly [flags: string, description?: string, complete?: (option: Option) => Option];

interface Details<R extends Route> {
  /** Keyed by the member of the request that the option sets; with a leading hyphen, only for `input`. */
  readonly options?: { readonly [Name in keyof Input<R> | `-${string}`]?: OptionText };
  /** Makes the request of the options and of the arguments that are not part of the path. */
  readonly input?: (given: Values, args: Arguments, context: CommandContext) => object | Promise<object>;
  /** Converts an argument to its value in the path. */
  readonly placed?: (argument: string, context: CommandContext) => Promise<string>;
  /** With --json, this is printed in place of the answer. */
  readonly result?: (args: Arguments) => object;
  /** Default: a table of the items, or a list of the members. */
  readonly text?: (answer: Answer<R>, args: Arguments) => string;
  /** Columns of the table. */
  readonly columns?: readonly string[];
  /** Called after the output. */
  readonly after?: (answer: Answer<R>, context: CommandContext) => void;
  /** The error to report for an error of the server. */
  readonly failure?: (error: unknown) => unknown;
}

type AddCommand = (parent: Command, usage: string, context: CommandContext) => void;

/** Commands by their usage. */
export type Commands = Readonly<Record<string, AddCommand>>;

type Call = (method: string, path: string, init: object) => Promise<{ data?: unknown }>;

export function addCommands(parent: Command, context: CommandContext, commands: Commands): void {
  for (const [usage, add] of Object.entries(commands)) add(parent, usage, context);
}

/** Arguments fill the parameters of the path in their order, and `<project>` may be a slug; others are members of the request. */
export function operation<R extends Route>(
  route: R,
  description: string,
  details: Details<R> = {},
): AddCommand {
  return (parent, usage, context) => {
    const command = parent.command(usage).description(description);
    const options = optionsOf(details);
    for (const { option } of options) command.addOption(option);
    command.action(async () => {
      const [method = '', path = ''] = route.split(' ');
      const { args, places, rest } = await argumentsOf(
        command,
        path,
        details.placed ?? (async (value) => value),
        context,
      );
      const given = { ...rest, ...valuesOf(command, options) };
      const input = details.input ? await details.input(given, args, context) : given;
      const isQuery = ['GET', 'DELETE'].includes(method);
      const hasBody = !isQuery && (options.length > 0 || Object.keys(input).length > 0);
      const params = { path: places, query: isQuery ? input : {} };
      const call = context.api.request as Call;
      const sent = call(method.toLowerCase(), path, { params, ...(hasBody ? { body: input } : {}) });
      const { data } = await sent.catch((error: unknown) => {
        throw details.failure?.(error) ?? error;
      });
      const answer = data as Answer<R>;
      const text = details.text ?? ((shown: unknown) => textOf(shown, details.columns));
      context.print(details.result?.(args) ?? answer, () => text(answer, args));
      details.after?.(answer, context);
    });
  };
}

interface NamedOption {
  readonly name: string;
  readonly option: Option;
}

function optionsOf({ options = {} }: { readonly options?: object }): NamedOption[] {
  return Object.entries(options as Readonly<Record<string, OptionText>>).map(
    ([name, [flags, description, complete = (option: Option): Option => option]]) => ({
      name,
      option: complete(new Option(flags, description)),
    }),
  );
}

/** Options that were not given are left out. */
function valuesOf(command: Command, options: readonly NamedOption[]): Values {
  const given = command.opts<Values>();
  const values = options.map(({ name, option }) => [name, given[option.attributeName()]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

async function argumentsOf(
  command: Command,
  path: string,
  placed: NonNullable<Details<Route>['placed']>,
  context: CommandContext,
): Promise<{ args: Arguments; places: Arguments; rest: Arguments }> {
  const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, place = '']) => place);
  const args: Record<string, string> = {};
  const places: Record<string, string> = {};
  const rest: Record<string, string> = {};
  for (const [n, argument] of command.registeredArguments.entries()) {
    const [name, value] = [argument.name(), command.args[n]];
    if (value === undefined) continue;
    const project = name === 'project' ? await context.server.findProject(value) : null;
    args[name] = project?.slug ?? value;
    const place = wanted.shift();
    if (place !== undefined) places[place] = project?.id ?? (await placed(value, context));
    else if (project) rest.project_id = project.id;
    else rest[name] = value;
  }
  return { args: { ...places, ...args }, places, rest };
}

function textOf(answer: unknown, columns: readonly string[] | undefined): string {
  return Array.isArray(answer) ? table(answer as Values[], columns) : list(answer as Values);
}

/** For an option that is a whole number. */
export const wholeNumber =
  (min = 0, max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? '' : ` from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be a whole number${range}.`);
  };

/** For an option with several values, separated by commas. */
export const separated = (text: string): string[] => text.split(',').map((one) => one.trim());
