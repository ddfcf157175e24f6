/**
 * JSON Schemas for the parts of OpenAPI 3.0 and 3.1 that Plinth's documents use. Unknown members are errors. They follow
 * https://spec.openapis.org/oas/v3.0.3 and https://spec.openapis.org/oas/v3.1.0, by object.
 */

const text = { type: 'string' };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };
const ref = (name: string): object => ({ $ref: `#/definitions/${name}` });
const orReference = (name: string): object => ({
  if: { type: 'object', required: ['$ref'] },
  then: ref('reference'),
  else: ref(name),
});
const mapOf = (items: object): object => ({ type: 'object', additionalProperties: items });
/** Names of components. */
const components = (items: object): object => ({
  type: 'object',
  propertyNames: { pattern: '^[a-zA-Z0-9._-]+$' },
  additionalProperties: items,
});
const closed = (properties: object, required: string[] = [], more: object = {}): object => ({
  type: 'object',
  required,
  properties,
  patternProperties: { '^x-': {} },
  additionalProperties: false,
  ...more,
});

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean'];

/** Members of a Schema Object that differ between the versions. */
const SCHEMA_MEMBERS = {
  '3.0': {
    type: { enum: TYPES },
    example: {},
    nullable: flag,
    exclusiveMinimum: flag,
    exclusiveMaximum: flag,
  },
  '3.1': {
    $ref: { type: 'string', pattern: '^#/components/schemas/' },
    type: {
      anyOf: [
        { enum: [...TYPES, 'null'] },
        { type: 'array', items: { enum: [...TYPES, 'null'] }, minItems: 1, uniqueItems: true },
      ],
    },
    examples: { type: 'array', minItems: 1 },
    const: {},
    exclusiveMinimum: { type: 'number' },
    exclusiveMaximum: { type: 'number' },
  },
};

type Version = keyof typeof SCHEMA_MEMBERS;

/** In 3.0 a reference replaces the schema; in 3.1 it is one of its members. */
const schemas = (version: Version): Record<string, object> => ({
  schema: version === '3.0' ? orReference('plainSchema') : ref('plainSchema'),
});

const definitionsOf = (version: Version): Record<string, object> => ({
  ...schemas(version),
  reference: {
    type: 'object',
    required: ['$ref'],
    properties: { $ref: { type: 'string', pattern: '^#/components/' } },
    additionalProperties: false,
  },
  plainSchema: closed(
    {
      ...SCHEMA_MEMBERS[version],
      title: text,
      description: text,
      format: text,
      pattern: { type: 'string', format: 'regex' },
      enum: { type: 'array', minItems: 1, uniqueItems: true },
      default: {},
      readOnly: flag,
      writeOnly: flag,
      deprecated: flag,
      multipleOf: { type: 'number', exclusiveMinimum: 0 },
      minimum: { type: 'number' },
      maximum: { type: 'number' },
      minLength: count,
      maxLength: count,
      minItems: count,
      maxItems: count,
      minProperties: count,
      maxProperties: count,
      uniqueItems: flag,
      required: { type: 'array', items: text, minItems: 1, uniqueItems: true },
      properties: mapOf(ref('schema')),
      additionalProperties: { anyOf: [flag, ref('schema')] },
      items: ref('schema'),
      allOf: { type: 'array', minItems: 1, items: ref('schema') },
      oneOf: { type: 'array', minItems: 1, items: ref('schema') },
      anyOf: { type: 'array', minItems: 1, items: ref('schema') },
      not: ref('schema'),
    },
    [],
    // "items MUST be present if the type is array."
    { if: { properties: { type: { const: 'array' } }, required: ['type'] }, then: { required: ['items'] } },
  ),
  example: closed({ summary: text, description: text, value: {} }, ['value']),
  mediaType: closed({
    schema: ref('schema'),
    example: {},
    examples: mapOf(ref('example')),
    encoding: mapOf({ type: 'object' }),
  }),
  content: mapOf(ref('mediaType')),
  header: closed({ description: text, required: flag, schema: ref('schema'), example: {} }),
  parameter: closed(
    {
      name: { type: 'string', minLength: 1 },
      in: { enum: ['query', 'header', 'path'] },
      description: text,
      required: flag,
      deprecated: flag,
      style: { enum: ['form', 'simple'] },
      explode: flag,
      schema: ref('schema'),
      example: {},
      examples: mapOf(ref('example')),
    },
    ['name', 'in', 'schema'],
    {
      if: { properties: { in: { const: 'path' } } },
      then: { required: ['required'], properties: { required: { const: true } } },
    },
  ),
  requestBody: closed({ description: text, required: flag, content: ref('content') }, ['content']),
  response: closed({ description: text, headers: mapOf(orReference('header')), content: ref('content') }, [
    'description',
  ]),
  operation: closed(
    {
      tags: { type: 'array', items: text, uniqueItems: true },
      summary: text,
      description: text,
      operationId: text,
      parameters: { type: 'array', items: orReference('parameter'), uniqueItems: true },
      requestBody: orReference('requestBody'),
      responses: {
        type: 'object',
        minProperties: 1,
        patternProperties: { '^([1-5]\\d\\d|default)$': orReference('response') },
        additionalProperties: false,
      },
      security: { type: 'array', items: mapOf({ type: 'array', items: text }) },
      deprecated: flag,
    },
    ['responses', 'operationId'],
  ),
  pathItem: closed({
    get: ref('operation'),
    put: ref('operation'),
    post: ref('operation'),
    patch: ref('operation'),
    delete: ref('operation'),
    head: ref('operation'),
    options: ref('operation'),
  }),
  securityScheme: {
    oneOf: [
      closed(
        { type: { const: 'apiKey' }, name: text, in: { enum: ['header', 'cookie'] }, description: text },
        ['type', 'name', 'in'],
      ),
      closed({ type: { const: 'http' }, scheme: text, bearerFormat: text, description: text }, [
        'type',
        'scheme',
      ]),
    ],
  },
});

export const openApiSchema = (version: Version): object => ({
  definitions: definitionsOf(version),
  ...closed(
    {
      openapi: { type: 'string', pattern: `^${version.replace('.', '\\.')}\\.\\d$` },
      info: closed(
        {
          title: text,
          description: text,
          version: text,
          contact: closed({ name: text, url: text }, ['url']),
          license: closed({ name: text, url: text }, ['name']),
        },
        ['title', 'version'],
      ),
      servers: { type: 'array', items: closed({ url: text, description: text }, ['url']) },
      tags: { type: 'array', items: closed({ name: text, description: text }, ['name']) },
      paths: {
        type: 'object',
        patternProperties: { '^/': ref('pathItem') },
        additionalProperties: false,
      },
      components: closed({
        schemas: components(ref('schema')),
        parameters: components(orReference('parameter')),
        responses: components(orReference('response')),
        headers: components(ref('header')),
        securitySchemes: components(ref('securityScheme')),
      }),
      security: { type: 'array' },
    },
    ['openapi', 'info', 'paths'],
  ),
});
