/** The request that a page such as /docs fills in: it consists of the examples of parameters and of the body. */
import { type NamedOperation, type OpenApiDocument, resolve } from './openapi';

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */

export interface PrefilledRequest {
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/**
 * @param given values of parameters by their names, which take precedence over the examples
 * @throws Error for a required parameter without either
 */
export function prefilledRequest(
  document: OpenApiDocument,
  { name, path, operation }: NamedOperation,
  given: Readonly<Record<string, string>> = {},
): PrefilledRequest {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let address = path;
  for (const one of operation.parameters ?? []) {
    const parameter = resolve(document, one);
    const value = Object.hasOwn(given, parameter.name) ? given[parameter.name] : exampleOf(parameter);
    if (value === undefined) {
      if (parameter.required) throw new Error(`${name}: ${parameter.name} has no example`);
      continue;
    }
    if (parameter.in === 'path') {
      address = address.replace(`{${parameter.name}}`, encodeURIComponent(textOf(value)));
    } else if (parameter.in === 'header') headers[parameter.name] = textOf(value);
    else for (const [key, text] of queryOf(parameter.name, value)) query.append(key, text);
  }
  const [method = ''] = name.split(' ');
  const [type, body] = bodyOf(document, operation);
  if (type !== null) headers['content-type'] = type;
  return { method, path: query.size === 0 ? address : `${address}?${query.toString()}`, headers, body };
}

/** Lists repeat the name; the members of an object are their own parameters (`style: form`, `explode`). */
function queryOf(name: string, value: unknown): [name: string, text: string][] {
  if (Array.isArray(value)) return value.map((item) => [name, textOf(item)]);
  if (typeof value !== 'object' || value === null) return [[name, textOf(value)]];
  return Object.entries(value).map(([member, one]) => [member, textOf(one)]);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Optional parameters are filled in by their own examples, and required parameters also by the examples of their
 * schema.
 */
function exampleOf({ example, examples, schema, required }: any): unknown {
  const [first] = Object.values<any>(examples ?? {});
  const own: unknown = example ?? first?.value;
  return own ?? (required ? schema.examples?.[0] : undefined);
}

/** The media type is null if the client sets it, or if there is no body. */
function bodyOf(document: OpenApiDocument, operation: any): [type: string | null, body: unknown] {
  const content: Record<string, any> = resolve(document, operation.requestBody)?.content ?? {};
  const [type, media] = Object.entries(content)[0] ?? [];
  const [first] = Object.values<any>(media?.examples ?? {});
  const value = media?.example ?? first?.value;
  if (type === undefined || value === undefined) return [null, undefined];
  if (type === 'multipart/form-data') return [null, formOf(value)];
  if (type === 'application/x-www-form-urlencoded') return [type, new URLSearchParams(value).toString()];
  return [type, type === 'application/json' ? JSON.stringify(value) : value];
}

function formOf({ file, ...fields }: Record<string, string>): FormData {
  const form = new FormData();
  for (const [field, text] of Object.entries(fields)) form.set(field, text);
  if (file !== undefined) form.set('file', new Blob([file]), 'file');
  return form;
}
