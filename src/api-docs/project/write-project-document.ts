/** Writes a project's document for one role: auth and storage from the platform's, table REST from the schema. */
import type { Project } from '../../projects/project';
import { SERVICE_ROLE } from '../../projects/project-keys';
import { type Catalog, nameKey, type QualifiedName } from '../../rest/catalog/catalog';
import { type DocumentFormat, DocumentWriter, type WrittenDocument } from '../openapi/document-writer';
import { type OpenApiDocument, plainType, type Schema, schemaRef } from '../openapi/model';
import type { TypeOfComponent } from '../openapi/versions';
import { addTableRest, TABLE_REST_NAMES } from '../table-rest/components';
import { addressOf, NameAllocator, pathSegment } from './names';
import type { ObjectNames } from './object-names';
import { platformPart, type PlatformPart } from './platform-part';
import { type RelationParameters, relationParameters } from './relation-parameters';
import { relationPaths, tagOf } from './relation-paths';
import { relationSchemas } from './relation-schemas';
import { routinePaths } from './routine-paths';
import { TypeSchemas } from './type-schemas';
import type { CallableFunction } from './visible-functions';
import { visibleNames } from './visible-names';
import type { VisibleRelation } from './visible-relation';
import type { Overloads, VisibleSchema } from './visible-schema';

export interface ProjectDocumentSource {
  readonly platform: OpenApiDocument;
  readonly project: Project;
  readonly role: string;
  readonly visible: VisibleSchema;
}

/** Values that several parts share. */
interface Draft {
  readonly project: Project;
  readonly writer: DocumentWriter;
  readonly catalog: Catalog;
  readonly defaultSchema: string;
  readonly relations: readonly VisibleRelation[];
  readonly routines: readonly Overloads<CallableFunction>[];
  /** nameKey() of the functions that the role may execute or select. */
  readonly functionKeys: ReadonlySet<string>;
  readonly names: ObjectNames;
  readonly types: TypeSchemas;
  /** Columns that the role may read, by nameKey() of their relations. */
  readonly readable: ReadonlyMap<string, ReadonlySet<string>>;
  readonly rowOf: (name: QualifiedName) => Schema | null;
}

const DESCRIPTION = `Auth, storage and tables of this project, limited to what the role of the requesting credentials may use.

Both headers are needed: **apikey**, the anon or service-role key, and **bearer**, the access token of a user or a key.
Tables of the first exposed schema are addressed by name, all others as \`<schema>.<table>\`.

Any response may have \`X-Request-Id\`, and \`X-Quota-Warning\` once the project has used 80 % of a quota.`;

export async function writeProjectDocument(
  source: ProjectDocumentSource,
  format: DocumentFormat,
): Promise<WrittenDocument> {
  const { platform, project, role } = source;
  const part = platformPart(platform, project, role === SERVICE_ROLE);
  const planned = draftOf(source, part);
  const writer = new DocumentWriter(format, typesOfComponents(part, planned.types));
  const { schemas = {}, parameters = {}, responses = {}, headers = {} } = part.components;
  writer.addAll('paths', part.paths);
  writer.addAll('schemas', Object.entries(schemas));
  writer.addAll('parameters', Object.entries(parameters));
  writer.addAll('responses', Object.entries(responses));
  writer.addAll('headers', Object.entries(headers));
  const schemes = Object.entries(platform.components.securitySchemes ?? {});
  writer.addAll(
    'securitySchemes',
    schemes.filter(([name]) => name === 'apikey' || name === 'bearer'),
  );
  const draft = { ...planned, writer };
  const { tags: tableTags, parametersOf } = await writeRelations(draft);
  await writeRoutines(draft, parametersOf);
  writer.addAll('schemas', draft.types.components());
  addTableRest(writer);
  const tags = new Map(platform.tags?.map(({ name, description }) => [name, description]));
  return writer.finish({
    info: { ...platform.info, title: project.name, description: DESCRIPTION },
    servers: platform.servers,
    tags: [
      { name: 'auth', description: tags.get('auth') },
      { name: 'storage', description: tags.get('storage') },
      { name: 'rpc', description: 'Functions' },
      // A relation or function may have the same name as another tag; each tag is listed once.
      ...tableTags.filter(({ name }) => !['auth', 'storage', 'rpc'].includes(name)),
    ],
  });
}

/** Components of neither part are rows, which are objects. */
function typesOfComponents({ components }: PlatformPart, types: TypeSchemas): TypeOfComponent {
  return (name) => {
    const schema = components.schemas?.[name] ?? types.components().get(name);
    return schema ? plainType(schema) : 'object';
  };
}

function draftOf({ project, visible }: ProjectDocumentSource, part: PlatformPart): Omit<Draft, 'writer'> {
  const { catalog, relations, functions, defaultSchema } = visible;
  const names = visibleNames(visible, part);
  const readable = new Map(
    relations
      .filter(({ maySelect }) => maySelect)
      .map(({ relation, columns }) => [
        nameKey(relation),
        new Set(columns.filter(({ maySelect }) => maySelect).map(({ column }) => column.name)),
      ]),
  );
  const rowOf = (name: QualifiedName): Schema | null =>
    readable.has(nameKey(name)) ? schemaRef(names.relation(name).schema) : null;
  return {
    project,
    catalog,
    defaultSchema,
    relations,
    routines: visible.callable,
    functionKeys: new Set(functions.map(([first]) => nameKey(first))),
    names,
    types: new TypeSchemas(visible.types, { names, rowOf: (schema, name) => rowOf({ schema, name }) }),
    readable,
    rowOf,
  };
}

interface Tag {
  readonly name: string;
  readonly description?: string;
}

interface WrittenRelations {
  readonly tags: readonly Tag[];
  readonly parametersOf: (name: QualifiedName) => RelationParameters | null;
}

async function writeRelations(draft: Draft): Promise<WrittenRelations> {
  const { writer, relations, names, defaultSchema } = draft;
  const tags: Tag[] = [];
  const allParameters = new Map<string, RelationParameters>();
  const allocator = new NameAllocator(TABLE_REST_NAMES.parameters);
  for (const one of inOrder(relations, ({ relation }) => relation, draft)) {
    await writer.pause();
    const stems = names.relation(one.relation);
    const { row, insert, update } = relationSchemas(one, draft);
    const shapes = { '': row, Insert: insert, Update: update };
    for (const [suffix, schema] of Object.entries(shapes)) {
      if (schema) writer.add('schemas', `${stems.schema}${suffix}`, schema);
    }
    const address = addressOf(one.relation, defaultSchema);
    const path = pathTo(draft, '', address);
    if (path === null || writer.has('paths', path)) continue;
    const parameters = relationParameters(one, { ...draft, stem: stems.schema, allocator });
    allParameters.set(nameKey(one.relation), parameters);
    writer.add('paths', path, relationPaths(one, { ...draft, stems, address, parameters }));
    writer.addUsed('parameters', parameters.components);
    tags.push({ name: tagOf(address, stems), description: one.comment ?? `Rows of ${address}` });
  }
  return { tags, parametersOf: (name) => allParameters.get(nameKey(name)) ?? null };
}

async function writeRoutines(draft: Draft, parametersOf: WrittenRelations['parametersOf']): Promise<void> {
  const { writer, types, rowOf, names, defaultSchema, catalog } = draft;
  for (const overloads of inOrder(draft.routines, ([first]) => first.routine, draft)) {
    await writer.pause();
    const [{ routine }] = overloads;
    const address = addressOf(routine, defaultSchema);
    const path = pathTo(draft, 'rpc/', address);
    if (path === null) continue;
    const stem = names.routine(routine);
    const options = { stem, address, types, rowOf, parametersOf, mediaHandlers: catalog.mediaHandlers };
    writer.add('paths', path, routinePaths(overloads, options));
  }
}

/**
 * Sorted by name. Where `a.b.c` is ambiguous, the object that table REST resolves it to comes first: a name of
 * the default schema, then the shortest schema.
 */
function inOrder<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => QualifiedName,
  { defaultSchema }: Draft,
): Item[] {
  const rank = ({ schema }: QualifiedName): number => (schema === defaultSchema ? -1 : schema.length);
  const compare = (a: QualifiedName, b: QualifiedName): number =>
    rank(a) - rank(b) || (a.schema < b.schema ? -1 : a.schema > b.schema ? 1 : a.name < b.name ? -1 : 1);
  return [...items].sort((a, b) => compare(nameOf(a), nameOf(b)));
}

function pathTo({ project }: Draft, prefix: 'rpc/' | '', address: string): string | null {
  const segment = pathSegment(address);
  return segment === null ? null : `/p/${encodeURIComponent(project.slug)}/rest/v1/${prefix}${segment}`;
}
