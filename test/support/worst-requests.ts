/**
 * The worst JSON bodies of each operation in the platform's OpenAPI document, made from its schema, so that every
 * documented route has them. test/unit/worst-requests.spec.ts fails for an operation for which this file cannot make a
 * body.
 */
import { operationsOf, resolve, type OpenApiDocument } from './openapi';

/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment -- schemas of the product under test */

const MIB = 1024 * 1024;
/** Number of bytes of a value, which leaves room for the other members. */
const BYTES = MIB - 4096;

const list = (item: string, bytes = BYTES): string =>
  `[${Array.from({ length: bytes / (item.length + 1) }, () => item).join()}]`;
const keys = (count: number, length = 1): string =>
  `{${Array.from({ length: count }, (_, index) => `"${index.toString(36).padEnd(length, '_')}":0`).join()}}`;
const text = (piece: string): string => JSON.stringify(piece.repeat(BYTES / Buffer.byteLength(piece)));

/** JSON values that are expensive to parse, to check, or to refuse. Some have the largest number of values in a body. */
export const WORST_VALUES: Readonly<Record<string, string>> = {
  'many members': keys(100_000),
  'the members that are checked': keys(999, 1_000),
  'empty lists': list('[]'),
  'empty objects': list('{}'),
  'the objects that are checked': list('{"a":""}', 4_900 * 5),
  'the lists that are checked': list('[]', 4_900 * 3),
  'the texts that are checked': list(JSON.stringify('a'.repeat(200)), BYTES),
  'the values of a body': `{"a":${list('{"a":"_______________________________________________________"}', 9_000 * 64)}}`,
  numbers: list('1'),
  nesting: list('['.repeat(60) + ']'.repeat(60)),
  'a long number': '1'.repeat(BYTES),
  letters: text('a'),
  'letters of two bytes': text('é'),
  blanks: text(' '),
  addresses: text('a@'),
  names: text('a.'),
  patterns: text('*a/'),
  'a URL': JSON.stringify(`https://${'a'.repeat(BYTES)}`),
  digits: text('1'),
  'control characters': `"${'\\u0001'.repeat(BYTES / 6)}"`,
  markup: JSON.stringify('<!--'.repeat(60_000)),
};

export interface WorstOperation {
  readonly name: string;
  readonly method: string;
  /** Path with parameters in braces. */
  readonly path: string;
  /** Descriptions and bodies. They are made one by one, because together they have several gigabytes. */
  readonly bodies: () => Iterable<readonly [string, string]>;
}

/** Operations with bodies of other types, or whose bodies depend on the project: each has cases in the soak. */
export const WITH_OWN_CASES: ReadonlySet<string> = new Set([
  'POST /p/{project_slug}/storage/buckets/{bucket_name}/upload',
  'POST /p/{project_slug}/storage/v1/object/{bucket_name}/{path}',
  'PUT /p/{project_slug}/storage/v1/object/{bucket_name}/{path}',
  'PUT /p/{project_slug}/storage/v1/object/upload/sign/{bucket_name}/{path}',
  'POST /p/{project_slug}/auth/v1/oauth/token',
  'POST /p/{project_slug}/storage/v1/upload/resumable',
  'PATCH /p/{project_slug}/storage/v1/upload/resumable/{upload_id}',
  'POST /admin/v1/restore',
  'POST /admin/v1/restore/all',
  'POST /admin/v1/projects/{id}/users/import',
]);

/**
 * False for an operation without a body, whose only input is the URL and the headers. The soak tests these on
 * one operation of each area.
 */
export const hasBody = ({ requestBody }: any): boolean => requestBody !== undefined;

export function worstOperations(document: OpenApiDocument): WorstOperation[] {
  return operationsOf(document)
    .filter(({ name, operation }) => hasBody(operation) && !WITH_OWN_CASES.has(name))
    .map(({ name, path, operation }) => ({
      name,
      method: name.slice(0, name.indexOf(' ')),
      path,
      bodies: () => bodiesOf(document, schemaOf(document, operation)),
    }));
}

/** Undefined for an operation whose body is not JSON. */
export function schemaOf(document: OpenApiDocument, { requestBody }: any): any {
  const schema = resolve(document, requestBody)?.content?.['application/json']?.schema;
  return schema && resolve(document, schema.allOf?.length === 1 ? schema.allOf[0] : schema);
}

function* bodiesOf(document: OpenApiDocument, schema: any): Generator<readonly [string, string]> {
  for (const [what, value] of Object.entries(WORST_VALUES)) yield [`a body of ${what}`, value];
  const members = schema.properties ?? {};
  const valid = Object.entries(exampleOf(document, schema) as object);
  for (const name of Object.keys(members)) {
    const others = valid
      .filter(([other]) => other !== name)
      .map(([other, value]) => `"${other}":${JSON.stringify(value)},`);
    for (const [what, value] of Object.entries(WORST_VALUES))
      yield [`${name} of ${what}`, `{${others.join('')}${JSON.stringify(name)}:${value}}`];
  }
}

/** A value that the schema describes, with the members that are required. */
function exampleOf(document: OpenApiDocument, given: any): unknown {
  const schema = resolve(document, given) ?? {};
  if (schema.example !== undefined) return schema.example;
  if (schema.enum) return schema.enum[0];
  const type = [schema.type].flat()[0];
  if (type === 'object') {
    const required: string[] = schema.required ?? [];
    return Object.fromEntries(required.map((name) => [name, exampleOf(document, schema.properties?.[name])]));
  }
  if (type === 'array') return [exampleOf(document, schema.items)];
  if (type === 'integer' || type === 'number') return 1;
  return type === 'boolean' ? false : 'text';
}
