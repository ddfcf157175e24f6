/** Compares requests and answers with an OpenAPI document. */
import { readFileSync } from 'node:fs';
import { type OpenApiDocument, resolve } from '../openapi';
import { DocumentSchemas } from './json-schema';

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */

export interface Exchange {
  readonly method: string;
  /** Path with the query string. */
  readonly path: string;
  readonly contentType: string | undefined;
  /** The body as passed to the client: text, a form, or an object that was sent as JSON. */
  readonly body: unknown;
  readonly answer: {
    readonly status: number;
    readonly headers: Headers;
    readonly text: string;
    readonly body: unknown;
  };
}

interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly operation: any;
}

/**
 * Headers of HTTP itself, of CORS, of a proxy, and headers that any response may have, which the description of the
 * document explains. All other headers are documented for their responses.
 */
export const OF_EVERY_ANSWER =
  /^(access-control-.*|connection|content-length|content-security-policy|content-type|date|keep-alive|server|transfer-encoding|vary|x-content-type-options|x-quota-warning|x-request-id)$/;

/** Statuses of a request for a path or a method that does not exist. */
const REFUSALS = new Set([400, 401, 403, 404, 405, 429]);

export class DocumentChecker {
  private readonly routes: readonly Route[];
  private readonly schemas: DocumentSchemas;

  constructor(private readonly document: OpenApiDocument) {
    this.schemas = new DocumentSchemas(document);
    this.routes = Object.entries(document.paths)
      // `/files/bulk-delete` before `/files/{file_id}`.
      .sort(([a], [b]) => a.split('{').length - b.split('{').length)
      .flatMap(([path, item]) =>
        Object.entries(item).map(([method, operation]) => ({
          method: method.toUpperCase(),
          pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
          operation,
        })),
      );
  }

  /** Differences between the exchange and the document; empty if there are none. */
  faultsOf(exchange: Exchange): string[] {
    const { method, path, answer } = exchange;
    const [address = '', query = ''] = path.split('?');
    const operation = this.operationOf(method, address);
    if (!operation) return REFUSALS.has(answer.status) ? [] : ['the operation is not documented'];
    const response = resolve(this.document, operation.responses[answer.status]);
    if (!response) return [`status ${answer.status} is not documented: ${answer.text.slice(0, 300)}`];
    const isSuccess = answer.status >= 200 && answer.status < 300;
    return [
      ...headerFaults(response, answer.headers),
      ...this.contentFaults(method, response, exchange),
      ...(isSuccess ? [...this.queryFaults(operation, query), ...this.bodyFaults(operation, exchange)] : []),
    ];
  }

  private operationOf(method: string, address: string): any {
    const wanted = method === 'HEAD' ? ['HEAD', 'GET'] : [method];
    return this.routes.find((one) => wanted.includes(one.method) && one.pattern.test(address))?.operation;
  }

  private contentFaults(method: string, response: any, { answer }: Exchange): string[] {
    const { status, headers, text, body } = answer;
    const type = essence(headers.get('content-type'));
    if (method === 'HEAD' || status === 304) return [];
    if (text === '' && type === '') return [];
    const media = mediaFor(response.content, type);
    if (!media) return [`${status} with a body of type ${type} is not documented`];
    if (!isJson(type)) return [];
    return [...this.schemas.faultsOf(media.schema, body), ...messageFaults(media, body)].map(
      (fault) => `${status}: ${fault} in ${text.slice(0, 300)}`,
    );
  }

  private queryFaults(operation: any, query: string): string[] {
    const documented = (operation.parameters ?? [])
      .map((one: any) => resolve(this.document, one))
      .filter((one: any) => one.in === 'query');
    // The members of such an object are parameters with arbitrary names.
    if (documented.some(({ explode, schema }: any) => explode === true && schema.additionalProperties))
      return [];
    const names = documented.map((one: any) => one.name);
    return [...new URLSearchParams(query).keys()]
      .filter((name) => !names.includes(name))
      .map((name) => `query parameter ${name} is not documented`);
  }

  private bodyFaults(operation: any, { body, contentType }: Exchange): string[] {
    if (body === undefined || body === '') return [];
    const documented = resolve(this.document, operation.requestBody);
    const type =
      body instanceof FormData ? 'multipart/form-data' : essence(contentType ?? 'application/json');
    const media = mediaFor(documented?.content, type);
    if (!media) return [`a request body of type ${type} is not documented`];
    if (body instanceof FormData) return formFaults(media.schema, body);
    if (!isJson(type)) return [];
    const value: unknown =
      typeof body === 'string' || Buffer.isBuffer(body) ? JSON.parse(String(body)) : toJson(body);
    return this.schemas.faultsOf(media.schema, value).map((fault) => `request: ${fault}`);
  }
}

/**
 * All test files of a worker share the checker of a document, because compiling its schemas takes longer than most
 * tests.
 */
const known = new Map<string, DocumentChecker>();

/** @param file an OpenAPI document as JSON, which does not change */
export function checkerOf(file: string): DocumentChecker {
  let checker = known.get(file);
  if (!checker) {
    checker = new DocumentChecker(JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument);
    known.set(file, checker);
  }
  return checker;
}

function headerFaults({ headers = {} }: any, sent: Headers): string[] {
  const documented = new Set(Object.keys(headers as object).map((name) => name.toLowerCase()));
  return (
    [...sent.keys()]
      .filter((name) => !OF_EVERY_ANSWER.test(name) && !documented.has(name))
      // Of JSON on every surface but table REST, as the description of the document says.
      .filter((name) => name !== 'cache-control' || sent.get(name) !== 'no-store')
      .map((name) => `header ${name} is not documented`)
  );
}

/** A response with only a message must have one of the documented texts. */
function messageFaults({ schema, example, examples }: any, body: any): string[] {
  if (!/\/MessageResponse$/.test(String(schema?.$ref))) return [];
  const shown = example ? [example] : Object.values<any>(examples ?? {}).map(({ value }) => value);
  return shown.some(({ message }) => message === body.message) ? [] : ['the message is none of the examples'];
}

function formFaults(schema: any, form: FormData): string[] {
  return [...form.keys()]
    .filter((name) => !Object.hasOwn(schema.properties, name))
    .map((name) => `form field ${name} is not documented`);
}

const essence = (type: string | null): string => (type ?? '').split(';')[0]!.trim().toLowerCase();

const isJson = (type: string): boolean => /^application\/([\w.+-]+\+)?json$/.test(type);

/** A file of any type is documented as `application/octet-stream`. */
function mediaFor(content: any, type: string): any {
  return content?.[type] ?? content?.['application/octet-stream'] ?? content?.['*/*'];
}

const toJson = (body: unknown): unknown => JSON.parse(JSON.stringify(body)) as unknown;
