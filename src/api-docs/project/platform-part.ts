/** The auth and storage operations of the platform's document, with one project's id in their paths. */
import type { Project } from '../../projects/project';
import { mapOperations, mapValues } from '../openapi/map-schemas';
import type { Components, OpenApiDocument, Operation, PathItem } from '../openapi/model';
import type { Schema } from '../../visible-schema/json-schema';

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
      mapOperations(item, withoutProject),
    ]),
  );
  return { paths, components: usedComponents(platform.components, [...paths.values()]) };
}

/** Without the parameters that are part of the paths now. */
function withoutProject({ parameters = [], ...operation }: Operation): Operation {
  const isRemaining = (one: (typeof parameters)[number]): boolean =>
    !('name' in one) || one.in !== 'path' || !['project_id', 'project_slug'].includes(one.name);
  return { ...operation, parameters: parameters.filter(isRemaining) };
}

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Components that the paths refer to, directly or through other components, and both credentials. */
function usedComponents(components: Components, paths: readonly PathItem[]): Components {
  const { securitySchemes, ...sections } = components as Sections;
  const used = new Set<string>();
  const pending = [...references(paths)];
  for (let ref = pending.pop(); ref !== undefined; ref = pending.pop()) {
    if (used.has(ref)) continue;
    used.add(ref);
    const [section = '', name = ''] = ref.replace('#/components/', '').split('/');
    pending.push(...references(sections[section]?.[name]));
  }
  const chosen = mapValues(sections, (all, section) => {
    const names = Object.keys(all).filter((name) => used.has(`#/components/${section}/${name}`));
    return Object.fromEntries(names.sort().map((name) => [name, all[name]]));
  });
  const { apikey, bearer } = securitySchemes ?? {};
  return { ...chosen, securitySchemes: { apikey, bearer } } as Components;
}

function* references(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { $ref } = node as Schema;
  if (typeof $ref === 'string') yield $ref;
  for (const member of Object.values(node)) yield* references(member);
}
