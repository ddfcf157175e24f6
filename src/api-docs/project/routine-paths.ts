/** The operations on one function: GET if it is not volatile, POST always. Overloads share a path. */
import {
  type MediaHandler,
  nameKey,
  type QualifiedName,
  type Routine,
  type RoutineArgument,
} from '../../rest/catalog/catalog';
import { hasParameter } from './names';
import {
  type Content,
  listOf,
  type Operation,
  type Parameter,
  type PathItem,
  type Reference,
  type Response,
  type Schema,
} from '../openapi/model';
import { mapValues } from '../openapi/map-schemas';
import { restErrors, type RestErrorStatus } from '../table-rest/rest-errors';
import { answerHeaders, KEY_AND_BEARER, restParameters } from '../table-rest/rest-parameters';
import type { RelationParameters } from './relation-parameters';
import { namedArguments, resultSchema } from './routine-schemas';
import type { TypeSchemas } from './type-schemas';
import type { CallableFunction } from './visible-functions';

export interface RoutinePathsOptions {
  readonly stem: string;
  /** The name in a URL, after `rpc/`. */
  readonly address: string;
  readonly types: TypeSchemas;
  readonly mediaHandlers: readonly MediaHandler[];
  /** The component of a relation's rows; null where the role may not see it. */
  readonly rowOf: (name: QualifiedName) => Schema | null;
  /** The parameters of a relation's rows; null where the role may not see it. */
  readonly parametersOf: (name: QualifiedName) => RelationParameters | null;
}

/** Media types of a body that is the value of one unnamed argument. */
const RAW_BODIES: Readonly<Record<string, string>> = {
  json: 'application/json',
  jsonb: 'application/json',
  text: 'text/plain',
  xml: 'text/xml',
  bytea: 'application/octet-stream',
};

const ERRORS: readonly RestErrorStatus[] = [300, 400, 401, 403, 404, 405, 406, 409, 416, 429, 500, 503];

/** @param overloads at least one */
export function routinePaths(overloads: readonly CallableFunction[], options: RoutinePathsOptions): PathItem {
  const byQuery = overloads.filter(
    ({ routine }) =>
      routine.volatility !== 'volatile' &&
      routine.arguments.every(({ name, required }) => name !== '' && (hasParameter(name) || !required)),
  );
  return {
    ...(byQuery.length > 0 ? { get: callByQuery(byQuery, options) } : {}),
    post: callByBody(overloads, options),
  };
}

function callByQuery(overloads: readonly CallableFunction[], options: RoutinePathsOptions): Operation {
  return {
    ...head('get', overloads, options),
    parameters: [...queryArguments(overloads, options), ...resultParameters(overloads, options)],
    responses: { ...results(overloads, options), ...restErrors(...ERRORS) },
  };
}

function callByBody(overloads: readonly CallableFunction[], options: RoutinePathsOptions): Operation {
  const withArguments = overloads.filter(({ routine }) => routine.arguments.length > 0);
  const needsBody = overloads.every(({ routine }) => routine.arguments.some(({ required }) => required));
  return {
    ...head('call', overloads, options),
    parameters: resultParameters(overloads, options),
    ...(withArguments.length > 0
      ? { requestBody: { required: needsBody, content: bodyContent(withArguments, options) } }
      : {}),
    responses: { ...results(overloads, options), ...restErrors(...ERRORS, 408, 413, 415) },
  };
}

function head(
  verb: string,
  overloads: readonly CallableFunction[],
  { stem, address }: RoutinePathsOptions,
): Omit<Operation, 'responses'> {
  const comments = [...new Set(overloads.flatMap(({ comment }) => comment ?? []))];
  return {
    tags: ['rpc'],
    summary: `Call the function ${address}`,
    description: comments.length > 0 ? comments.join('\n\n') : `Calls the function ${address}.`,
    operationId: `${verb}${stem}`,
    security: KEY_AND_BEARER,
  };
}

/** Functions that return rows take the parameters of the relation whose rows they are, if all overloads have the same. */
function resultParameters(
  overloads: readonly CallableFunction[],
  { parametersOf }: RoutinePathsOptions,
): Reference[] {
  const tabular = overloads.filter(({ routine }) => routine.result === 'composite' && routine.returnsSet);
  if (tabular.length === 0) return restParameters('PreferCall', 'ConsistencyToken');
  const relations = new Map(
    tabular.map(({ routine: { relation } }) => [relation && nameKey(relation), relation]),
  );
  const [relation] = relations.values();
  const own = relation && relations.size === 1 ? parametersOf(relation) : null;
  return [
    ...(own ? [own.select, own.order] : restParameters('Select', 'Order')),
    ...restParameters('Limit', 'Offset', 'And', 'Or', 'PreferCall', 'ConsistencyToken'),
  ];
}

/** An argument that some overload does not need is optional. The examples together are a call of the first overload. */
function queryArguments(overloads: readonly CallableFunction[], { types }: RoutinePathsOptions): Parameter[] {
  const parameters = new Map<string, Parameter>();
  for (const [index, { routine }] of overloads.entries()) {
    for (const argument of routine.arguments) {
      const { name } = argument;
      if (!hasParameter(name)) continue;
      const isRequired = overloads.every((each) =>
        each.routine.arguments.some((one) => one.name === argument.name && one.required),
      );
      const schema = queryArgument(argument, types);
      const known = parameters.get(name);
      const isTheSame = !known || JSON.stringify(known.schema) === JSON.stringify(schema);
      parameters.set(name, {
        name,
        in: 'query',
        description: `The argument ${argument.name}`,
        ...(isRequired ? { required: true } : {}),
        ...asText(!isTheSame, index === 0 && argument.required ? exampleOf(argument, types) : (known ?? {})),
        schema: isTheSame ? schema : { type: 'string' },
      });
    }
  }
  return [...parameters.values()];
}

/** Only the example, as text where the overloads have different types. */
function asText(isText: boolean, { example }: Pick<Parameter, 'example'>): Pick<Parameter, 'example'> {
  if (example === undefined) return {};
  return { example: isText && typeof example !== 'string' ? JSON.stringify(example) : example };
}

/** No example for a composite type, whose text has a comma for each of its members. */
function exampleOf({ inputType, variadic }: RoutineArgument, types: TypeSchemas): Pick<Parameter, 'example'> {
  const sample = types.sampleOf(inputType);
  if (typeof sample !== 'object') return { example: sample };
  if (Array.isArray(sample)) return { example: variadic ? [types.sampleOf(inputType.slice(0, -2))] : '{}' };
  return /^json/.test(types.filterOf(inputType).family.toLowerCase()) ? { example: '{}' } : {};
}

/** Arrays, objects and JSON are text in a query string; a variadic argument is repeated for each value. */
function queryArgument({ inputType, variadic }: RoutineArgument, types: TypeSchemas): Schema {
  const schema = types.of(inputType);
  if (types.filterOf(inputType).family === 'Enum') return schema;
  if (schema.type === undefined || schema.type === 'object') return { type: 'string' };
  if (schema.type !== 'array') return schema;
  return variadic ? schema : { type: 'string', description: 'As PostgreSQL array text: {1,2}' };
}

/** The bodies of overloads, of which the first of each media type gives the example. */
function bodyContent(overloads: readonly CallableFunction[], options: RoutinePathsOptions): Content {
  const content: Record<string, [RoutineBody, ...RoutineBody[]]> = {};
  for (const { routine } of overloads) {
    const body = bodyOf(routine, options);
    const others = content[body.mediaType];
    if (others) others.push(body);
    else content[body.mediaType] = [body];
  }
  return mapValues(content, (bodies) => ({
    schema: anyOf(bodies.map(({ schema }) => schema)),
    ...(bodies[0].example === undefined ? {} : { example: bodies[0].example }),
  }));
}

interface RoutineBody {
  readonly mediaType: string;
  readonly schema: Schema;
  /** Undefined for bytes. */
  readonly example: unknown;
}

function bodyOf({ arguments: declared }: Routine, { types }: RoutinePathsOptions): RoutineBody {
  const [only] = declared;
  if (only?.name === '') {
    const mediaType = RAW_BODIES[only.type] ?? 'application/json';
    if (only.type === 'bytea')
      return { mediaType, schema: { type: 'string', format: 'binary' }, example: undefined };
    return { mediaType, schema: types.of(only.type), example: types.sampleOf(only.type) };
  }
  const required = declared.filter((argument) => argument.required);
  return {
    mediaType: 'application/json',
    schema: namedArguments(declared, types),
    example: Object.fromEntries(required.map(({ name, inputType }) => [name, types.sampleOf(inputType)])),
  };
}

function results(
  overloads: readonly CallableFunction[],
  options: RoutinePathsOptions,
): Operation['responses'] {
  const contents = new Map<string, Schema[]>();
  for (const one of overloads.filter(({ routine }) => routine.result !== 'void')) {
    const [mediaType, schema] = resultOf(one, options);
    contents.set(mediaType, [...(contents.get(mediaType) ?? []), schema]);
  }
  const headers = answerHeaders('Content-Range', 'Preference-Applied');
  const answers: Record<string, Response> = {};
  if (contents.size > 0) {
    answers[200] = { description: 'The result of the function', headers, content: contentOf(contents) };
  }
  if (overloads.some(({ routine }) => routine.result === 'void')) {
    answers[204] = { description: 'The function returned nothing', headers };
  }
  if (overloads.some(({ routine }) => routine.returnsSet)) {
    const description = 'A part of the rows, if a count was requested';
    answers[206] = { description, headers, content: contentOf(contents) };
  }
  return answers;
}

function resultOf(
  { routine, result }: CallableFunction,
  options: RoutinePathsOptions,
): [mediaType: string, schema: Schema] {
  const handler = options.mediaHandlers.find(
    ({ aggregate, appliesTo }) =>
      aggregate === null && appliesTo !== null && nameKey(appliesTo) === nameKey(routine),
  );
  if (handler) {
    const format = handler.isBinary ? { format: 'binary' } : {};
    return [handler.contentType, { type: 'string', ...format }];
  }
  const one = resultSchema(routine, result, options);
  return ['application/json', routine.returnsSet ? listOf(one) : one];
}

function contentOf(schemas: ReadonlyMap<string, readonly Schema[]>): Content {
  return Object.fromEntries([...schemas].map(([mediaType, all]) => [mediaType, { schema: anyOf(all) }]));
}

function anyOf(schemas: readonly Schema[]): Schema {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [only] = distinct;
  return only && distinct.length === 1 ? only : { anyOf: distinct };
}
