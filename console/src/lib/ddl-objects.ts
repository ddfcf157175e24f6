/** The SQL of types, functions, triggers, views and extensions. It is shown before it runs. Pure. */
import type { Schema } from '../api/client';
import type { ForeignKey, Relation } from '../queries/catalog-types';
import { clausesOf, dropConstraintSql, dropIndexSql, referenceSql, targetOf } from './ddl-alter';
import { identifier, literal, qualified } from './sql-text';

/** Kinds of objects that the schema screen lists; the picture shows the tables. */
export const OBJECT_KINDS = [
  'types',
  'functions',
  'triggers',
  'views',
  'indexes',
  'keys',
  'extensions',
] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

export interface SchemaObject {
  readonly kind: ObjectKind;
  readonly schema: string;
  readonly name: string;
  /** The table of a trigger, an index or a key. */
  readonly table?: string;
  /** A short description, shown next to the name. */
  readonly details: readonly string[];
  /** The statement that creates the object; null if PostgreSQL prints none. */
  readonly definition: string | null;
  /** The SQL that drops the object; null if the object does not exist. */
  readonly drop: string | null;
  /** The statement to edit and run again; null if the object is dropped and created instead. */
  readonly replace: string | null;
  /** Labels of an enum. */
  readonly labels?: readonly string[];
}

type Catalog = Schema<'CatalogObjects'>;
type Relations = readonly Pick<Relation, 'schema' | 'name' | 'indexes' | 'foreignKeys'>[];

export function objectsOf(kind: ObjectKind, catalog: Catalog, relations: Relations): SchemaObject[] {
  switch (kind) {
    case 'types':
      return catalog.types.map(ofType);
    case 'functions':
      return catalog.functions.map(ofFunction);
    case 'triggers':
      return catalog.triggers.map(ofTrigger);
    case 'views':
      return catalog.views.map(ofView);
    case 'extensions':
      return catalog.extensions.map(ofExtension);
    case 'indexes':
      return relations.flatMap(({ schema, name: table, indexes }) =>
        indexes.map(({ name, definition, constraint }) => ({
          kind,
          schema,
          name,
          table,
          details: [table, ...(constraint === null ? [] : ['constraint'])],
          definition: `${definition};`,
          drop: dropIndexSql({ schema, name: table }, name, constraint),
          replace: null,
        })),
      );
    case 'keys':
      return relations.flatMap(({ schema, name: table, foreignKeys }) =>
        foreignKeys.map((key) => ({
          kind,
          schema,
          name: key.name,
          table,
          details: [`${table} → ${key.schema === schema ? '' : `${key.schema}.`}${key.table}`],
          definition: keySql(schema, table, key),
          drop: dropConstraintSql({ schema, name: table }, key.name),
          replace: null,
        })),
      );
  }
}

function keySql(schema: string, table: string, key: ForeignKey): string {
  const kept = clausesOf(key);
  return `alter table ${qualified(schema, table)}
  add constraint ${identifier(key.name)} foreign key (${key.columns.map(identifier).join(', ')}) ${referenceSql(targetOf(key), kept.onDelete, kept)};`;
}

function ofType({ schema, name, kind, labels, definition }: Catalog['types'][number]): SchemaObject {
  const type = qualified(schema, name);
  const definitions = {
    enum: `create type ${type} as enum (${labels.map(literal).join(', ')});`,
    composite: `create type ${type} as (${definition});`,
    domain: `create domain ${type} as ${definition};`,
    range: `create type ${type} as range (subtype = ${definition});`,
  };
  return {
    kind: 'types',
    schema,
    name,
    details: [kind, kind === 'enum' ? labels.join(', ') : definition],
    definition: definitions[kind],
    drop: `drop ${kind === 'domain' ? 'domain' : 'type'} ${type};`,
    replace: null,
    ...(kind === 'enum' ? { labels } : {}),
  };
}

function ofFunction(one: Catalog['functions'][number]): SchemaObject {
  const { schema, name, kind, arguments: types, returns, language, definer, definition } = one;
  const word = kind === 'procedure' || kind === 'aggregate' ? kind : 'function';
  // An aggregate without arguments is written with a star.
  const list = kind === 'aggregate' && types === '' ? '*' : types;
  const sql = definition === null ? null : `${definition.trimEnd()};`;
  return {
    kind: 'functions',
    schema,
    name,
    details: [
      `(${types})`,
      ...(returns === null ? [] : [returns]),
      language,
      ...(definer ? ['security definer'] : []),
    ],
    definition: sql,
    drop: `drop ${word} ${qualified(schema, name)}(${list});`,
    replace: sql,
  };
}

function ofTrigger({ schema, table, name, enabled, definition }: Catalog['triggers'][number]): SchemaObject {
  return {
    kind: 'triggers',
    schema,
    name,
    table,
    details: [table, ...(enabled ? [] : ['disabled'])],
    definition: `${definition};`,
    drop: `drop trigger ${identifier(name)} on ${qualified(schema, table)};`,
    // A constraint trigger cannot be replaced.
    replace: /^CREATE TRIGGER/.test(definition)
      ? `${definition.replace('CREATE', 'CREATE OR REPLACE')};`
      : null,
  };
}

function ofView({ schema, name, materialized, options, definition }: Catalog['views'][number]): SchemaObject {
  const kind = materialized ? 'materialized view' : 'view';
  const drop = `drop ${kind} ${qualified(schema, name)};`;
  const withOptions = options.length === 0 ? '' : ` with (${options.join(', ')})`;
  const create = `${kind} ${qualified(schema, name)}${withOptions} as\n${definition.trimEnd()}`;
  return {
    kind: 'views',
    schema,
    name,
    details: [kind, ...options],
    definition: `create ${create}`,
    drop,
    // A materialized view cannot be replaced.
    replace: materialized ? `${drop}\n\ncreate ${create}` : `create or replace ${create}`,
  };
}

function ofExtension({
  name,
  schema,
  version,
  available,
  comment,
}: Catalog['extensions'][number]): SchemaObject {
  return {
    kind: 'extensions',
    schema: schema ?? '',
    name,
    details: [version ?? available, comment],
    definition: null,
    drop: version === null ? null : `drop extension ${identifier(name)};`,
    replace: null,
  };
}

export function createExtensionSql(name: string, schema: string): string {
  return `create extension ${identifier(name)} with schema ${identifier(schema)};`;
}

export function createEnumSql(schema: string, name: string, labels: readonly string[]): string | null {
  if (name === '' || labels.length === 0) return null;
  return `create type ${qualified(schema, name)} as enum (${labels.map(literal).join(', ')});`;
}

/** Adds new labels at their position. PostgreSQL cannot drop labels. */
export function alterEnumSql(
  { schema, name, labels = [] }: SchemaObject,
  next: {
    readonly name: string;
    readonly labels: readonly string[];
    /** Renames a label. */
    readonly renamed?: { readonly from: string | null; readonly to: string };
  },
): string | null {
  const type = qualified(schema, name);
  const added = next.labels.filter((label) => !labels.includes(label));
  const statements = added.map((label) => {
    const before = next.labels[next.labels.indexOf(label) - 1];
    const first = labels[0];
    const place =
      before !== undefined
        ? ` after ${literal(before)}`
        : first === undefined
          ? ''
          : ` before ${literal(first)}`;
    return `alter type ${type} add value ${literal(label)}${place};`;
  });
  const { from = null, to = '' } = next.renamed ?? {};
  if (from !== null && to !== '' && to !== from)
    statements.push(`alter type ${type} rename value ${literal(from)} to ${literal(to)};`);
  if (next.name !== name && next.name !== '')
    statements.push(`alter type ${type} rename to ${identifier(next.name)};`);
  return statements.length === 0 ? null : statements.join('\n');
}

export interface FunctionDraft {
  readonly name: string;
  /** As SQL: `a integer, b text default ''`. */
  readonly arguments: string;
  readonly returns: string;
  readonly language: 'sql' | 'plpgsql';
  readonly volatility: 'volatile' | 'stable' | 'immutable';
  readonly definer: boolean;
  readonly body: string;
}

export function createFunctionSql(schema: string, draft: FunctionDraft): string | null {
  const { name, returns, language, volatility, definer, body } = draft;
  if (name === '' || returns.trim() === '' || body.trim() === '') return null;
  let tag = '$$';
  for (let number = 1; body.includes(tag); number++) tag = `$body${number}$`;
  // With the search path of the caller, anybody could substitute other objects for the objects that the function names.
  const options = [language, volatility, ...(definer ? ["security definer set search_path = ''"] : [])];
  return `create function ${qualified(schema, name)}(${draft.arguments.trim()})
  returns ${returns.trim()} language ${options.join(' ')}
as ${tag}
${body.trim()}
${tag};`;
}

export const TRIGGER_EVENTS = ['insert', 'update', 'delete', 'truncate'] as const;

export interface TriggerDraft {
  readonly name: string;
  readonly table: string | null;
  readonly timing: 'before' | 'after';
  readonly events: readonly (typeof TRIGGER_EVENTS)[number][];
  readonly perRow: boolean;
  /** A condition; empty means always. */
  readonly when: string;
  readonly call: { readonly schema: string; readonly name: string } | null;
}

export function createTriggerSql(schema: string, draft: TriggerDraft): string | null {
  const { name, table, timing, events, perRow, when, call } = draft;
  if (name === '' || table === null || events.length === 0 || call === null) return null;
  const condition = when.trim() === '' ? '' : `\n  when (${when.trim()})`;
  return `create trigger ${identifier(name)}
  ${timing} ${events.join(' or ')} on ${qualified(schema, table)}
  for each ${perRow ? 'row' : 'statement'}${condition}
  execute function ${qualified(call.schema, call.name)}();`;
}

export interface ViewDraft {
  readonly name: string;
  readonly query: string;
  readonly materialized: boolean;
  /** True if the view runs with the rights of the reader, so that the policies for the reader apply. */
  readonly invoker: boolean;
}

export function createViewSql(
  schema: string,
  { name, query, materialized, invoker }: ViewDraft,
): string | null {
  const plain = query.trim().replace(/;\s*$/, '');
  if (name === '' || plain === '') return null;
  const options = invoker && !materialized ? ' with (security_invoker = true)' : '';
  return `create ${materialized ? 'materialized view' : 'view'} ${qualified(schema, name)}${options} as\n${plain};`;
}
