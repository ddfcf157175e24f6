/** The operations on one function: GET if it is not volatile, POST always. Overloads share a path. */
import {
  type MediaHandler,
  nameKey,
  type QualifiedName,
  type Routine,
  type RoutineArgument,
} from '../../rest/catalog/catalog';
import { hasParameter } from './names';
import { type Content, type Parameter, parameterRef, type PathItem, type Reference } from '../openapi/model';
import { listOf, type Schema } from '../../visible-schema/json-schema';
import { typeFilter } from '../table-rest/filter-schemas';
import { callOperation } from '../table-rest/table-operations';
import type { RelationParameters } from './relation-parameters';
import { namedArguments, resultSchema } from '../../visible-schema/routine-schemas';
import type { TypeSchemas } from '../../visible-schema/type-schemas';
import type { CallableFunction } from '../../visible-schema/visible-functions';

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
  text: 'text/plain',
  xml: 'text/xml',
  bytea: 'application/octet-stream',
};

/** @param overloads at least one */
export function routinePaths(overloads: readonly CallableFunction[], options: RoutinePathsOptions): PathItem {
  const byQuery = overloads.filter(
    ({ routine }) =>
      routine.volatility !== 'volatile' &&
      routine.arguments.every(({ name, required }) => name !== '' && (hasParameter(name) || !required)),
  );
  const { stem } = options;
  const call = described(overloads, options);
  const content = contentOf(overloads.flatMap(({ routine }) => bodyOf(routine, options)));
  const required = overloads.every(({ routine }) => routine.arguments.some((one) => one.required));
  const post = callOperation(
    { ...call, id: `call${stem}`, ...(content && { requestBody: { required, content } }) },
    true,
  );
  if (byQuery.length === 0) return { post };
  const read = described(byQuery, options);
  const parameters = [...queryArguments(byQuery, options), ...read.parameters];
  return { get: callOperation({ ...read, id: `get${stem}`, parameters }, false), post };
}

type Call = Omit<Parameters<typeof callOperation>[0], 'id' | 'requestBody'>;

function described(overloads: readonly CallableFunction[], options: RoutinePathsOptions): Call {
  const { address } = options;
  const comments = [...new Set(overloads.flatMap(({ comment }) => comment ?? []))];
  const returning = overloads.filter(({ routine }) => routine.result !== 'void');
  const value = contentOf(returning.map((one) => resultOf(one, options)));
  return {
    tag: 'rpc',
    summary: `Call the function ${address}`,
    text: comments.length > 0 ? comments.join('\n\n') : `Calls the function ${address}.`,
    parameters: resultParameters(overloads, options),
    value,
    part: overloads.some(({ routine }) => routine.returnsSet) ? value : null,
    mayBeVoid: returning.length < overloads.length,
  };
}

/** Functions that return rows take the parameters of the relation whose rows they are, if all overloads have the same. */
function resultParameters(
  overloads: readonly CallableFunction[],
  { parametersOf }: RoutinePathsOptions,
): (Parameter | Reference)[] {
  const always = ['PreferCall', 'ConsistencyToken'].map(parameterRef);
  const relations = overloads
    .filter(({ routine }) => routine.result === 'composite' && routine.returnsSet)
    .map(({ routine }) => routine.relation);
  const [first] = relations;
  if (first === undefined) return always;
  const isOne = relations.every((one) => one && first && nameKey(one) === nameKey(first));
  const own = isOne && first ? parametersOf(first)?.own : undefined;
  const { Select = parameterRef('Select'), Order = parameterRef('Order') } = own ?? {};
  return [Select, Order, ...['Limit', 'Offset', 'And', 'Or'].map(parameterRef), ...always];
}

/**
 * An argument that some overload does not need is optional, and text if the overloads have different types. The examples together
 * are a call of the first overload.
 */
function queryArguments(overloads: readonly CallableFunction[], { types }: RoutinePathsOptions): Parameter[] {
  const declared = overloads.map(({ routine }) => new Map(routine.arguments.map((one) => [one.name, one])));
  const names = new Set(declared.flatMap((one) => [...one.keys()]).filter(hasParameter));
  return [...names].map((name) => {
    const [first] = declared.map((one) => one.get(name));
    const [schema, ...others] = distinct(
      declared.flatMap((one) => one.get(name) ?? []).map((one) => queryArgument(one, types)),
    );
    const example = first?.required ? queryExample(first, types) : undefined;
    const isText = others.length > 0 && typeof example !== 'string';
    return {
      name,
      in: 'query',
      description: `The argument ${name}`,
      ...(declared.every((one) => one.get(name)?.required) && { required: true }),
      ...(example !== undefined && { example: isText ? JSON.stringify(example) : example }),
      schema: others.length > 0 ? { type: 'string' } : schema,
    };
  });
}

/** Undefined for a composite type, whose text has a comma for each of its members. */
function queryExample({ inputType, variadic }: RoutineArgument, types: TypeSchemas): unknown {
  const sample = types.sampleOf(inputType);
  if (typeof sample !== 'object') return sample;
  if (Array.isArray(sample)) return variadic ? [types.sampleOf(inputType.slice(0, -2))] : '{}';
  return /^Jsonb?$/.test(typeFilter(inputType, types).family) ? '{}' : undefined;
}

/** Arrays, objects and JSON are text in a query string; a variadic argument is repeated for each value. */
function queryArgument({ inputType, variadic }: RoutineArgument, types: TypeSchemas): Schema {
  const schema = types.of(inputType);
  if (typeFilter(inputType, types).family === 'Enum') return schema;
  if (schema.type === undefined || schema.type === 'object') return { type: 'string' };
  if (schema.type !== 'array') return schema;
  return variadic ? schema : { type: 'string', description: 'As PostgreSQL array text: {1,2}' };
}

/** A body or result in one media type. */
interface Part {
  readonly mediaType: string;
  readonly schema: Schema;
  /** Undefined for bytes and for results. */
  readonly example?: unknown;
}

function bodyOf({ arguments: declared }: Routine, { types }: RoutinePathsOptions): Part[] {
  const [only] = declared;
  if (!only) return [];
  if (only.name === '') {
    const mediaType = RAW_BODIES[only.type] ?? 'application/json';
    if (only.type === 'bytea') return [{ mediaType, schema: { type: 'string', format: 'binary' } }];
    return [{ mediaType, schema: types.of(only.type), example: types.sampleOf(only.type) }];
  }
  const required = declared.filter((argument) => argument.required);
  const example = Object.fromEntries(
    required.map(({ name, inputType }) => [name, types.sampleOf(inputType)]),
  );
  return [{ mediaType: 'application/json', schema: namedArguments(declared, types), example }];
}

function resultOf({ routine, result }: CallableFunction, options: RoutinePathsOptions): Part {
  const handler = options.mediaHandlers.find(
    ({ aggregate, appliesTo }) =>
      aggregate === null && appliesTo !== null && nameKey(appliesTo) === nameKey(routine),
  );
  if (handler) {
    const format = handler.isBinary ? { format: 'binary' } : {};
    return { mediaType: handler.contentType, schema: { type: 'string', ...format } };
  }
  const one = resultSchema(routine, result, options);
  return { mediaType: 'application/json', schema: routine.returnsSet ? listOf(one) : one };
}

/** Overloads of the same media type have alternative schemas; the first gives the example. Null without parts. */
function contentOf(parts: readonly Part[]): Content | null {
  if (parts.length === 0) return null;
  const mediaTypes = [...new Set(parts.map(({ mediaType }) => mediaType))];
  return Object.fromEntries(
    mediaTypes.map((mediaType) => {
      const [first, ...others] = parts.filter((one) => one.mediaType === mediaType);
      const schemas = distinct([first, ...others].flatMap((one) => one?.schema ?? []));
      const schema = schemas.length > 1 ? { anyOf: schemas } : schemas[0];
      return [mediaType, { schema, ...(first?.example !== undefined && { example: first.example }) }];
    }),
  );
}

const distinct = (schemas: readonly Schema[]): Schema[] => [
  ...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values(),
];
