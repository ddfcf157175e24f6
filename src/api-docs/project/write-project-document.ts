/** Writes a project's document for one role: auth and storage from the platform's, table REST from the schema. */
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Project } from '../../projects/project';
import { SERVICE_ROLE } from '../../projects/project-keys';
import { type Catalog, nameKey, type QualifiedName } from '../../rest/catalog/catalog';
import { DocumentWriter, type WrittenDocument } from './document-writer';
import { addressOf, componentStem, pathSegment } from './names';
import { type Reference, schemaRef } from './openapi';
import { platformPart } from './platform-part';
import type { ProjectFacts } from './project-facts';
import { filterParameters, relationPaths } from './relation-paths';
import { relationSchemas } from './relation-schemas';
import { REST_HEADERS, REST_PARAMETERS, REST_RESPONSES, REST_SCHEMAS } from './rest-components';
import { routinePaths, type VisibleRoutine } from './routine-paths';
import { TypeSchemas } from './type-schemas';
import { visibleRelation, type VisibleRelation } from './visible-relation';

export interface ProjectDocumentSource {
  readonly platform: OpenAPIObject;
  readonly project: Project;
  readonly role: string;
  /** The first is the default schema. */
  readonly schemas: readonly string[];
  readonly catalog: Catalog;
  readonly facts: ProjectFacts;
}

/** ProjectDocumentSource with values that several parts share. */
interface Draft extends ProjectDocumentSource {
  readonly defaultSchema: string;
  readonly visible: readonly VisibleRelation[];
  readonly types: TypeSchemas;
  readonly rowOf: (name: QualifiedName) => Reference | null;
}

const DESCRIPTION = `Auth, storage and tables of this project, as far as the role of the credentials that asked may use them.

Both headers are needed: **apikey**, the anon or service-role key, and **bearer**, the access token of a user or a key.
Tables of the first exposed schema are addressed by name, all others as \`<schema>.<table>\`.`;

export async function writeProjectDocument(source: ProjectDocumentSource): Promise<WrittenDocument> {
  const writer = new DocumentWriter();
  const { platform, project, role } = source;
  const part = platformPart(platform, project, role === SERVICE_ROLE);
  writer.addAll('paths', part.paths);
  writer.addAll('schemas', [...Object.entries(part.schemas), ...Object.entries(REST_SCHEMAS)]);
  writer.addAll('parameters', Object.entries(REST_PARAMETERS));
  writer.addAll('responses', Object.entries(REST_RESPONSES));
  writer.addAll('headers', Object.entries(REST_HEADERS));
  const schemes = Object.entries(platform.components?.securitySchemes ?? {});
  writer.addAll(
    'securitySchemes',
    schemes.filter(([name]) => name === 'apikey' || name === 'bearer'),
  );
  const draft = await draftOf(source, writer);
  const tags = new Map(platform.tags?.map(({ name, description }) => [name, description]));
  const tableTags = await writeRelations(draft, writer);
  await writeRoutines(draft, writer);
  writer.addAll('schemas', draft.types.components());
  return writer.finish({
    openapi: platform.openapi,
    info: { title: project.name, description: DESCRIPTION, version: platform.info.version },
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

async function draftOf(source: ProjectDocumentSource, writer: DocumentWriter): Promise<Draft> {
  const { catalog, facts, schemas } = source;
  const defaultSchema = schemas[0] ?? 'public';
  const visible: VisibleRelation[] = [];
  for (const one of facts.relations) {
    await writer.pause();
    const relation = catalog.relations.get(nameKey(one));
    // Partitions are accessed through their table.
    const seen = relation && !relation.isPartition ? visibleRelation(relation, one) : null;
    if (seen) visible.push(seen);
  }
  const withRows = new Set(
    visible.filter(({ maySelect }) => maySelect).map(({ relation }) => nameKey(relation)),
  );
  const rowOf = (name: QualifiedName): Reference | null =>
    withRows.has(nameKey(name)) ? schemaRef(`${componentStem(name, defaultSchema)}.Row`) : null;
  const types = new TypeSchemas(facts.types, {
    defaultSchema,
    rowOf: (schema, name) => rowOf({ schema, name }),
  });
  return { ...source, defaultSchema, visible, types, rowOf };
}

interface Tag {
  readonly name: string;
  readonly description?: string;
}

async function writeRelations(draft: Draft, writer: DocumentWriter): Promise<Tag[]> {
  const { visible, catalog, types, defaultSchema } = draft;
  const readable = new Map(
    visible.map(({ relation, columns }) => [
      nameKey(relation),
      new Set(columns.filter(({ maySelect }) => maySelect).map(({ column }) => column.name)),
    ]),
  );
  const tags: Tag[] = [];
  for (const one of inOrder(visible, ({ relation }) => relation, draft)) {
    await writer.pause();
    const stem = componentStem(one.relation, defaultSchema);
    const { row, insert, update } = relationSchemas(one, { catalog, types, readable });
    const shapes = { Row: row, Insert: insert, Update: update };
    for (const [kind, schema] of Object.entries(shapes)) {
      if (schema) writer.add('schemas', `${stem}.${kind}`, schema);
    }
    const address = addressOf(one.relation, defaultSchema);
    const path = pathTo(draft, '', address);
    if (path === null || writer.has('paths', path)) continue;
    writer.addAll('parameters', filterParameters(one, { stem, address }));
    writer.add('paths', path, relationPaths(one, { stem, address }));
    tags.push({ name: address, ...(one.comment === null ? {} : { description: one.comment }) });
  }
  return tags;
}

async function writeRoutines(draft: Draft, writer: DocumentWriter): Promise<void> {
  const { types, rowOf, defaultSchema, catalog } = draft;
  for (const overloads of inOrder(visibleRoutines(draft), ([first]) => first.routine, draft)) {
    await writer.pause();
    const [{ routine }] = overloads;
    const address = addressOf(routine, defaultSchema);
    const path = pathTo(draft, 'rpc/', address);
    if (path === null) continue;
    const stem = componentStem(routine, defaultSchema);
    const options = { stem, address, types, rowOf, mediaHandlers: catalog.mediaHandlers };
    writer.add('paths', path, routinePaths(overloads, options));
  }
}

type Overloads = [VisibleRoutine, ...VisibleRoutine[]];

/** Functions that the role may execute, overloads together. */
function visibleRoutines({ catalog, facts }: Draft): Overloads[] {
  const signature = (types: readonly string[]): string => types.join('\0');
  const byName = new Map<string, Overloads>();
  for (const one of facts.routines) {
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
