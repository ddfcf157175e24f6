/** Writes a project's document for one role: auth and storage from the platform's, table REST from the schema. */
import type { Project } from '../../projects/project';
import { SERVICE_ROLE } from '../../projects/project-keys';
import { type Catalog, nameKey, type QualifiedName } from '../../rest/catalog/catalog';
import { type DocumentFormat, DocumentWriter, type WrittenDocument } from '../openapi/document-writer';
import { METHODS, type OpenApiDocument, type Schema, schemaRef } from '../openapi/model';
import { addTableRest, TABLE_REST_NAMES } from '../table-rest/components';
import { addressOf, GENERATOR_NAMES, NameAllocator, pathSegment } from './names';
import { nameObjects, type ObjectNames } from './object-names';
import { platformPart, type PlatformPart } from './platform-part';
import type { ProjectFacts, RoutineFacts } from './project-facts';
import { type RelationParameters, relationParameters } from './relation-parameters';
import { relationPaths, tagOf } from './relation-paths';
import { relationSchemas } from './relation-schemas';
import { routinePaths, type VisibleRoutine } from './routine-paths';
import { TypeSchemas } from './type-schemas';
import { visibleRelation, type VisibleRelation } from './visible-relation';

export interface ProjectDocumentSource {
  readonly platform: OpenApiDocument;
  readonly project: Project;
  readonly role: string;
  /** The first is the default schema. */
  readonly schemas: readonly string[];
  readonly catalog: Catalog;
  readonly facts: ProjectFacts;
}

/** ProjectDocumentSource with values that several parts share. */
interface Draft extends ProjectDocumentSource {
  readonly writer: DocumentWriter;
  readonly defaultSchema: string;
  readonly relations: readonly VisibleRelation[];
  readonly routines: readonly Overloads[];
  readonly names: ObjectNames;
  readonly types: TypeSchemas;
  /** Columns that the role may read, by nameKey() of their relations. */
  readonly readable: ReadonlyMap<string, ReadonlySet<string>>;
  readonly rowOf: (name: QualifiedName) => Schema | null;
}

const DESCRIPTION = `Auth, storage and tables of this project, as far as the role of the credentials that asked may use them.

Both headers are needed: **apikey**, the anon or service-role key, and **bearer**, the access token of a user or a key.
Tables of the first exposed schema are addressed by name, all others as \`<schema>.<table>\`.`;

export async function writeProjectDocument(
  source: ProjectDocumentSource,
  format: DocumentFormat,
): Promise<WrittenDocument> {
  const writer = new DocumentWriter(format);
  const { platform, project, role } = source;
  const part = platformPart(platform, project, role === SERVICE_ROLE);
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
  const draft = await draftOf(source, part, writer);
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

async function draftOf(
  source: ProjectDocumentSource,
  part: PlatformPart,
  writer: DocumentWriter,
): Promise<Draft> {
  const { catalog, facts, schemas } = source;
  const defaultSchema = schemas[0] ?? 'public';
  const relations: VisibleRelation[] = [];
  for (const one of facts.relations) {
    await writer.pause();
    const relation = catalog.relations.get(nameKey(one));
    // Partitions are accessed through their table.
    const seen = relation && !relation.isPartition ? visibleRelation(relation, one) : null;
    if (seen) relations.push(seen);
  }
  const routines = visibleRoutines(source);
  const names = nameObjects({
    relations: relations.map(({ relation }) => relation),
    types: facts.types
      .filter(({ usable, kind, attributes }) => usable && (kind === 'e' || (kind === 'c' && attributes)))
      .map(({ schema, type_name: name }) => ({ schema, name })),
    routines: routines.map(([{ routine }]) => routine),
    reservedSchemas: [
      ...GENERATOR_NAMES,
      ...TABLE_REST_NAMES.schemas,
      ...Object.keys(part.components.schemas ?? {}),
    ],
    reservedOperations: operationIds(part),
    defaultSchema,
  });
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
  const types = new TypeSchemas(facts.types, { names, rowOf: (schema, name) => rowOf({ schema, name }) });
  return { ...source, writer, defaultSchema, relations, routines, names, types, readable, rowOf };
}

function operationIds({ paths }: PlatformPart): string[] {
  return [...paths.values()].flatMap((item) => METHODS.flatMap((method) => item[method]?.operationId ?? []));
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

type Overloads = [VisibleRoutine, ...VisibleRoutine[]];

/** Functions that the role may execute, overloads together. */
function visibleRoutines({ catalog, facts }: ProjectDocumentSource): Overloads[] {
  const signature = (types: readonly string[]): string => types.join('\0');
  const byName = new Map<string, Overloads>();
  for (const one of sortedOverloads(facts)) {
    const routine = catalog.routines
      .get(nameKey(one))
      ?.find((each) => signature(each.arguments.map(({ type }) => type)) === signature(one.types));
    if (!routine) continue;
    const overload = { routine, facts: one };
    const others = byName.get(nameKey(one));
    if (others) others.push(overload);
    else byName.set(nameKey(one), [overload]);
  }
  return [...byName.values()];
}

/** The database returns them in any order. */
function sortedOverloads({ routines }: ProjectFacts): ProjectFacts['routines'] {
  const signature = ({ types }: RoutineFacts): string => types.join();
  return [...routines].sort((a, b) => (signature(a) < signature(b) ? -1 : 1));
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
