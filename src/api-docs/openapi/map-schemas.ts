/**
 * Applies a change to every schema of a part of a document. It follows the structure of OpenAPI, because a member
 * named `type` or `nullable` can be a column of a table.
 */
import {
  type Components,
  type Content,
  type Header,
  METHODS,
  type Operation,
  type Parameter,
  type PathItem,
  type Reference,
  type RequestBody,
  type Response,
  type Schema,
} from './model';

/** Called with a schema whose inner schemas were changed already. */
export type SchemaChange = (schema: Schema) => Schema;

type Mapped<Value> = Readonly<Record<string, Value>>;

export function mapSchema(schema: Schema, change: SchemaChange): Schema {
  const inner = (one: Schema): Schema => mapSchema(one, change);
  const { properties, items, additionalProperties, allOf, oneOf, anyOf, not } = schema;
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, inner) }),
    ...(items && { items: inner(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
    ...(allOf && { allOf: allOf.map(inner) }),
    ...(oneOf && { oneOf: oneOf.map(inner) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(not && { not: inner(not) }),
  });
}

export function mapPathItem(item: PathItem, change: SchemaChange): PathItem {
  return Object.fromEntries(
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [[method, mapOperation(operation, change)]] : [];
    }),
  );
}

function mapOperation(operation: Operation, change: SchemaChange): Operation {
  const { parameters, requestBody, responses } = operation;
  return {
    ...operation,
    ...(parameters && { parameters: parameters.map((one) => mapUsual(one, change)) }),
    ...(requestBody && { requestBody: mapBody(requestBody, change) }),
    responses: mapValues(responses, (one) => mapResponse(one, change)),
  };
}

/** A parameter or header. */
function mapUsual<Part extends Parameter | Header | Reference>(part: Part, change: SchemaChange): Part {
  return 'schema' in part && part.schema ? { ...part, schema: mapSchema(part.schema, change) } : part;
}

function mapBody(body: RequestBody | Reference, change: SchemaChange): RequestBody | Reference {
  return '$ref' in body ? body : { ...body, content: mapContent(body.content, change) };
}

function mapResponse<Part extends Response | Reference>(response: Part, change: SchemaChange): Part {
  if ('$ref' in response) return response;
  const { headers, content } = response;
  return {
    ...response,
    ...(headers && { headers: mapValues(headers, (one) => mapUsual(one, change)) }),
    ...(content && { content: mapContent(content, change) }),
  };
}

function mapContent(content: Content, change: SchemaChange): Content {
  return mapValues(content, (media) =>
    media.schema ? { ...media, schema: mapSchema(media.schema, change) } : media,
  );
}

/** By section of the document: what its members are. */
export const MAPPINGS = {
  paths: mapPathItem,
  schemas: mapSchema,
  parameters: mapUsual,
  responses: mapResponse,
  headers: mapUsual,
  securitySchemes: <Part>(part: Part): Part => part,
} as const;

export function mapComponents(components: Components, change: SchemaChange): Components {
  const { schemas, parameters, responses, headers } = components;
  return {
    ...components,
    ...(schemas && { schemas: mapValues(schemas, (one) => mapSchema(one, change)) }),
    ...(parameters && { parameters: mapValues(parameters, (one) => mapUsual(one, change)) }),
    ...(responses && { responses: mapValues(responses, (one) => mapResponse(one, change)) }),
    ...(headers && { headers: mapValues(headers, (one) => mapUsual(one, change)) }),
  };
}

export function mapValues<From, To>(record: Mapped<From>, to: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]));
}
