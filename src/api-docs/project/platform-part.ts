/** The auth and storage operations of the platform's document, with one project's id in their paths. */
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Project } from '../../projects/project';
import type { Components, Operation, PathItem } from './openapi';

export interface PlatformPart {
  readonly paths: ReadonlyMap<string, PathItem>;
  readonly schemas: NonNullable<Components['schemas']>;
}

const AREAS = /^\/(v1\/auth\/\{project_id\}|p\/\{project_slug\}\/storage)\//;
/** Only the service-role key may call these, so only its document lists them. */
const SERVICE_ONLY = /^\/v1\/auth\/\{project_id\}\/admin\//;
const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

export function platformPart(platform: OpenAPIObject, project: Project, isService: boolean): PlatformPart {
  const chosen = Object.entries(platform.paths).filter(
    ([path]) => AREAS.test(path) && (isService || !SERVICE_ONLY.test(path)),
  );
  const paths = new Map(
    chosen.map(([path, item]) => [
      path
        .replace('{project_id}', encodeURIComponent(project.id))
        .replace('{project_slug}', encodeURIComponent(project.slug)),
      withoutProject(item),
    ]),
  );
  return { paths, schemas: usedSchemas(platform, [...paths.values()]) };
}

/** Parameters that are part of the paths now. */
function withoutProject(item: PathItem): PathItem {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    return operation ? [[method, { ...operation, parameters: remaining(operation) }] as const] : [];
  });
  return Object.fromEntries(operations);
}

function remaining({ parameters = [] }: Operation): Operation['parameters'] {
  return parameters.filter(
    (one) => !('name' in one) || one.in !== 'path' || !['project_id', 'project_slug'].includes(one.name),
  );
}

/** Schemas that the paths refer to, directly or through other schemas. */
function usedSchemas(platform: OpenAPIObject, paths: readonly PathItem[]): PlatformPart['schemas'] {
  const all = platform.components?.schemas ?? {};
  const used = new Map<string, Exclude<(typeof all)[string], undefined>>();
  const pending = [...schemaNames(paths)];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const schema = used.has(name) ? undefined : all[name];
    if (!schema) continue;
    used.set(name, schema);
    pending.push(...schemaNames(schema));
  }
  return Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function* schemaNames(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  if ('$ref' in node && typeof node.$ref === 'string') yield node.$ref.slice(node.$ref.lastIndexOf('/') + 1);
  for (const member of Object.values(node)) yield* schemaNames(member);
}
