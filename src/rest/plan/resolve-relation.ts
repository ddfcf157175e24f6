/** Resolves the schema and the relation of a request. */
import type { Relation } from '../catalog/catalog';
import type { RequestShape, Target } from '../grammar/rest-request';
import { relationNotFound, restError } from '../rest.errors';
import { findRelation, isVisible, type PlanContext } from './plan-context';
import { mostSimilar, NEARLY } from './similar';

/**
 * The schema of Accept-Profile or Content-Profile, or else the first exposed one.
 * @throws AppError PL106 when it is not exposed
 */
export function schemaOf({ profile }: RequestShape, exposed: readonly string[]): string {
  if (profile === null) return exposed[0] ?? 'public';
  if (exposed.includes(profile)) return profile;
  throw restError('PL106', {
    message: `Invalid schema: ${profile}`,
    hint: `Only the following schemas are exposed: ${exposed.join(', ')}`,
  });
}

/**
 * The relation that a path names, `<table>` or `<schema>.<table>`, and the schema for the rest of the request.
 * A name that contains the dot itself takes precedence. A schema that is not exposed gets the same error as one
 * that does not exist; so does a partition, because the policies of its table do not apply when a partition is
 * named directly.
 * @throws AppError PL205
 */
export function resolveRelation(
  context: PlanContext,
  target: Target,
): { relation: Relation; context: PlanContext } {
  for (const { schema, name } of target.candidates) {
    if (schema !== null && !context.exposedSchemas.includes(schema)) continue;
    const inSchema = schema === null ? context : { ...context, schema };
    const relation = findRelation(context, { schema: inSchema.schema, name });
    if (relation && !relation.isPartition) return { relation, context: inSchema };
  }
  throw relationNotFound(context.schema, target.text, similarRelation(context, target.text));
}

/** The closest name among the relations on which the caller has privileges. */
function similarRelation(context: PlanContext, name: string): string | null {
  const candidates = [...context.catalog.relations.values()]
    .filter(
      (relation) =>
        relation.schema === context.schema && !relation.isPartition && isVisible(context, relation),
    )
    .map((relation) => relation.name);
  return mostSimilar(name, candidates, NEARLY);
}
