/** The auth and storage operations of the platform's document, with one project's id in their paths. */
import type { Project } from '../../projects/project';
import {
  type Components,
  METHODS,
  type OpenApiDocument,
  type Operation,
  type PathItem,
  type Schema,
} from '../openapi/model';

export interface PlatformPart {
  readonly paths: ReadonlyMap<string, PathItem>;
  readonly components: Components;
}

const AREAS = /^\/(v1\/auth\/\{project_id\}|p\/\{project_slug\}\/storage)\//;
/** Only the service-role key may call these, so only its document lists them. */
const SERVICE_ONLY = /^\/v1\/auth\/\{project_id\}\/admin\//;

export function platformPart(platform: OpenApiDocument, project: Project, isService: boolean): PlatformPart {
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
  return { paths, components: usedComponents(platform, [...paths.values()]) };
}

/** Parameters that are part of the paths now. */
function withoutProject(item: PathItem): PathItem {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    return operation ? [[method, { ...operation, parameters: remaining(operation) }] as const] : [];
  });
  return Object.fromEntries(operations);
}

function remaining({ parameters = [] }: Operation): NonNullable<Operation['parameters']> {
  return parameters.filter(
    (one) => !('name' in one) || one.in !== 'path' || !['project_id', 'project_slug'].includes(one.name),
  );
}

const SECTIONS = ['schemas', 'parameters', 'responses', 'headers'] as const;

/** Components that the paths refer to, directly or through other components. */
function usedComponents({ components }: OpenApiDocument, paths: readonly PathItem[]): Components {
  const used = new Set<string>();
  const pending = [...references(paths)];
  for (let ref = pending.pop(); ref !== undefined; ref = pending.pop()) {
    if (used.has(ref)) continue;
    used.add(ref);
    pending.push(...references(componentAt(components, ref)));
  }
  const chosen = SECTIONS.map((section) => {
    const all: Readonly<Record<string, unknown>> = components[section] ?? {};
    const names = Object.keys(all).filter((name) => used.has(`#/components/${section}/${name}`));
    return [section, Object.fromEntries(names.sort().map((name) => [name, all[name]]))] as const;
  });
  return Object.fromEntries(chosen);
}

function componentAt(components: Components, ref: string): unknown {
  const [section, name = ''] = ref.replace('#/components/', '').split('/');
  const found = SECTIONS.find((one) => one === section);
  const all: Readonly<Record<string, unknown>> = (found && components[found]) ?? {};
  return all[name];
}

function* references(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { $ref } = node as Schema;
  if (typeof $ref === 'string') yield $ref;
  for (const member of Object.values(node)) yield* references(member);
}
