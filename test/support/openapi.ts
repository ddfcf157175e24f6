/** Validates an OpenAPI document by JSON Schema, and by rules that a schema cannot express. */
import Ajv from 'ajv';
import { openApiSchema } from './openapi-schema';

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { title: string; version: string };
  readonly servers: { url: string }[];
  readonly tags?: { name: string; description?: string }[];
  readonly paths: Record<string, Record<string, any>>;
  readonly components: {
    readonly schemas: Record<string, any>;
    readonly parameters: Record<string, any>;
    readonly responses: Record<string, any>;
    readonly securitySchemes: Record<string, any>;
  };
}

export interface NamedOperation {
  /** `GET /rest/v1/notes` */
  readonly name: string;
  readonly path: string;
  readonly operation: any;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];
const ajv = new Ajv({ allErrors: false, strict: false, formats: { regex: true } });
const VALIDATORS = {
  '3.0': ajv.compile(openApiSchema('3.0')),
  '3.1': ajv.compile(openApiSchema('3.1')),
};

/** Operations whose references to responses and headers are replaced by their targets. */
export function operationsOf(document: OpenApiDocument): NamedOperation[] {
  const responseOf = (node: any): any => {
    const response = resolve(document, node);
    const headers = Object.entries(response?.headers ?? {}).map(([name, one]) => [
      name,
      resolve(document, one),
    ]);
    return headers.length > 0 ? { ...response, headers: Object.fromEntries(headers) } : response;
  };
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => {
        const responses = Object.entries(operation.responses).map(([status, one]) => [
          status,
          responseOf(one),
        ]);
        return {
          name: `${method.toUpperCase()} ${path}`,
          path,
          operation: { ...operation, responses: Object.fromEntries(responses) },
        };
      }),
  );
}

/** The target of a reference; undefined if it does not exist. */
export function resolve(document: OpenApiDocument, node: any): any {
  if (typeof node?.$ref !== 'string') return node;
  const steps: string[] = node.$ref.replace(/^#\//, '').split('/');
  return resolve(
    document,
    steps.reduce<any>((at, step) => at?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document),
  );
}

/** All faults that make the document invalid, or useless for client generators. */
export function faultsOf(document: OpenApiDocument): string[] {
  const validateSchema = VALIDATORS[document.openapi.startsWith('3.0') ? '3.0' : '3.1'];
  const schemaErrors = validateSchema(document) ? [] : (validateSchema.errors ?? []);
  return [
    ...schemaErrors.map(({ instancePath, message }) => `${instancePath} ${message}`),
    ...danglingReferences(document),
    ...repeated(operationsOf(document).map(({ operation }) => operation.operationId)).map(
      (id) => `operationId ${id} twice`,
    ),
    ...repeated((document.tags ?? []).map(({ name }) => name)).map((name) => `tag ${name} twice`),
    ...operationsOf(document).flatMap((one) => parameterFaults(document, one)),
    ...unknownSchemes(document),
    ...unusedComponents(document),
    ...Object.entries(document.components.schemas).flatMap(([name, schema]) => missingMembers(name, schema)),
  ];
}

/** Bodies and responses of an operation without a described structure. */
export function untypedContent(document: OpenApiDocument): string[] {
  return operationsOf(document).flatMap(({ name, operation }) => {
    const bodies = Object.entries(resolve(document, operation.requestBody)?.content ?? {}).map(
      ([type, media]) => [`body ${type}`, media] as const,
    );
    const answers = Object.entries(operation.responses).flatMap(([status, response]) =>
      Object.entries(resolve(document, response).content ?? {}).map(
        ([type, media]) => [`${status} ${type}`, media] as const,
      ),
    );
    return [...bodies, ...answers]
      .filter(([, media]) => !isTyped(document, (media as any).schema))
      .map(([where]) => `${name} ${where}`);
  });
}

/** True for a scalar, a list of described items, or an object with members. */
function isTyped(document: OpenApiDocument, node: any, path: readonly any[] = []): boolean {
  const schema = resolve(document, node);
  if (!schema || path.includes(schema)) return schema !== undefined;
  const within = (inner: any): boolean => isTyped(document, inner, [...path, schema]);
  const combined = schema.allOf ?? schema.oneOf ?? schema.anyOf;
  if (combined) return combined.every(within);
  // json and jsonb columns hold any JSON value.
  if (schema.enum || schema.const !== undefined || /^jsonb?$/.test(schema['x-postgres-type'])) return true;
  const [type] = [schema.type].flat();
  switch (type) {
    case 'array':
      return within(schema.items);
    case 'object':
      // OpenAPI 3.0 describes null like this.
      if (schema.maxProperties === 0) return true;
      return isTypedObject(schema, within);
    default:
      return typeof type === 'string';
  }
}

/** True if every member is described, or is declared as an object of any members. */
function isTypedObject(schema: any, within: (inner: any) => boolean): boolean {
  // OpenAPI 3.0 describes null like this.
  if (schema.maxProperties === 0) return true;
  const members: any[] = Object.values(schema.properties ?? {});
  const isFree = (member: any): boolean =>
    member.type === 'object' && member.additionalProperties === true && !member.properties;
  if (members.length > 0)
    return members.every((member) => isFree(member) || isFree(member.items ?? {}) || within(member));
  return typeof schema.additionalProperties === 'object' && within(schema.additionalProperties);
}

function danglingReferences(document: OpenApiDocument): string[] {
  return [...nodes(document)]
    .filter((node) => typeof node.$ref === 'string' && resolve(document, node) === undefined)
    .map(({ $ref }) => `${String($ref)} is not there`);
}

/** All objects in a tree. */
function* nodes(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* nodes(member);
}

function parameterFaults(document: OpenApiDocument, { name, path, operation }: NamedOperation): string[] {
  const parameters: any[] = (operation.parameters ?? []).map((one: any) => resolve(document, one));
  const declared = parameters.filter((one) => one?.in === 'path').map((one) => one.name);
  const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, parameter]) => parameter as string);
  return [
    ...repeated(parameters.map((one) => `${one?.in} ${one?.name}`)).map((one) => `${name}: ${one} twice`),
    ...declared.filter((one) => !inPath.includes(one)).map((one) => `${name}: {${one}} is not in the path`),
    ...inPath.filter((one) => !declared.includes(one)).map((one) => `${name}: {${one}} is not declared`),
  ];
}

function unknownSchemes(document: OpenApiDocument): string[] {
  return operationsOf(document).flatMap(({ name, operation }) =>
    (operation.security ?? [])
      .flatMap((one: object) => Object.keys(one))
      .filter((scheme: string) => !Object.hasOwn(document.components.securitySchemes, scheme))
      .map((scheme: string) => `${name}: no security scheme ${scheme}`),
  );
}

function unusedComponents({ paths, components }: OpenApiDocument): string[] {
  const used = new Set([...nodes({ paths, components })].map(({ $ref }) => $ref));
  return Object.entries(components)
    .filter(([section]) => section !== 'securitySchemes')
    .flatMap(([section, members]) => Object.keys(members as object).map((name) => `${section}/${name}`))
    .filter((name) => !used.has(`#/components/${name}`))
    .map((name) => `${name} is not used`);
}

function missingMembers(name: string, schema: any): string[] {
  const required: string[] = schema.required ?? [];
  return required
    .filter((one) => !Object.hasOwn(schema.properties ?? {}, one))
    .map((one) => `${name}: ${one} is required and not a member`);
}

function repeated(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}
