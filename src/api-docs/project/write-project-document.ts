/** Writes a project's document for one role: auth and storage from the platform's, table REST from the schema. */
import type { Project } from '../../projects/project';
import { nameKey, type QualifiedName } from '../../rest/catalog/catalog';
import { DocumentWriter } from '../openapi/document-writer';
import type { OpenApiDocument, Tag } from '../openapi/model';
import { plainType, type Schema, schemaRef } from '../../visible-schema/json-schema';
import type { ServedDocument } from '../openapi/served-document';
import type { DocumentFormat, TypeOfComponent } from '../openapi/versions';
import { addTableRest, TABLE_REST_NAMES } from '../table-rest/components';
import { addressOf, NameAllocator, pathSegment } from './names';
import type { ObjectNames } from './object-names';
import type { PlatformPart } from './platform-part';
import { type RelationParameters, relationParameters } from './relation-parameters';
import { relationPaths, tagOf } from './relation-paths';
import { relationSchemas } from './relation-schemas';
import { routinePaths } from './routine-paths';
import { TypeSchemas } from '../../visible-schema/type-schemas';
import type { VisibleSchema } from '../../visible-schema/visible-schema';

export interface ProjectDocumentSource {
  readonly platform: OpenApiDocument;
  /** Auth and storage. */
  readonly part: PlatformPart;
  readonly project: Project;
  readonly role: string;
  readonly visible: VisibleSchema;
  readonly names: ObjectNames;
}

/** Values that several parts share. */
interface Draft extends Omit<VisibleSchema, 'types'> {
  readonly project: Project;
  readonly names: ObjectNames;
  readonly writer: DocumentWriter;
  /** nameKey() of the functions that the role may execute or select. */
  readonly functionKeys: ReadonlySet<string>;
  readonly types: TypeSchemas;
  readonly rowOf: (name: QualifiedName) => Schema | null;
}

const DESCRIPTION = `Auth, storage and tables of this project, limited to what the role of the requesting credentials may use.

Both headers are needed: **apikey**, the anon or service-role key, and **bearer**, the access token of a user or a key.
Tables of the first exposed schema are addressed by name, all others as \`<schema>.<table>\`.

Any response may have \`X-Request-Id\`, and \`X-Quota-Warning\` once the project has used 80 % of a quota. JSON of auth, storage and
the administration has \`Cache-Control: no-store\`.`;

export async function writeProjectDocument(
  source: ProjectDocumentSource,
  format: DocumentFormat,
): Promise<ServedDocument> {
  const { platform, part, project, visible, names } = source;
  const rowOf = (name: QualifiedName): Schema | null =>
    visible.readable.has(nameKey(name)) ? schemaRef(names.relation(name).schema) : null;
  const types = new TypeSchemas(visible.types, { nameOf: (name) => names.type(name), rowOf });
  const writer = new DocumentWriter(format, typesOfComponents(part, types));
  await writer.addAll('paths', part.paths);
  await writer.addComponents(part.components);
  const functionKeys = new Set(visible.functions.map(([first]) => nameKey(first)));
  const draft = { ...visible, project, names, writer, functionKeys, types, rowOf };
  const { tags: tableTags, parametersOf } = await writeRelations(draft);
  await writeRoutines(draft, parametersOf);
  await writer.addAll('schemas', types.components());
  addTableRest(writer);
  const areas = platform.tags.filter(({ name }) => ['auth', 'storage', 'storage-js'].includes(name));
  const fixed = [...areas, { name: 'rpc', description: 'Functions' }];
  // A relation may have the same name as another tag; each tag is listed once.
  const others = tableTags.filter(({ name }) => !fixed.some((tag) => tag.name === name));
  const info = { ...platform.info, title: project.name, description: DESCRIPTION };
  const tags = [...fixed, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
  return writer.finish({ info, servers: platform.servers }, tags);
}

/** Components of neither part are rows, which are objects. */
function typesOfComponents({ components }: PlatformPart, types: TypeSchemas): TypeOfComponent {
  return (name) => {
    const schema = components.schemas?.[name] ?? types.components().get(name);
    return schema ? plainType(schema) : 'object';
  };
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
  for (const overloads of inOrder(draft.callable, ([first]) => first.routine, draft)) {
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
 * Where `a.b.c` is ambiguous, the object that table REST resolves it to comes first: a name of the default schema, then the
 * shortest schema. Otherwise by name, as the items are.
 */
function inOrder<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => QualifiedName,
  { defaultSchema }: Draft,
): Item[] {
  const rank = (item: Item): number => {
    const { schema } = nameOf(item);
    return schema === defaultSchema ? -1 : schema.length;
  };
  return [...items].sort((a, b) => rank(a) - rank(b));
}

function pathTo({ project }: Draft, prefix: 'rpc/' | '', address: string): string | null {
  const segment = pathSegment(address);
  return segment === null ? null : `/p/${encodeURIComponent(project.slug)}/rest/v1/${prefix}${segment}`;
}
