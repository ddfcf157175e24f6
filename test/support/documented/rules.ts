/** Rules for a document that a schema of OpenAPI cannot express, for the sake of generators and readers. */
import { type NamedOperation, type OpenApiDocument, operationsOf, resolve } from '../openapi';
import { DocumentSchemas } from './json-schema';

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */

interface Media {
  /** `POST /path 201 application/json` */
  readonly where: string;
  readonly media: any;
}

interface Place {
  /** `SignUpDto.name`, or the name of an operation and the path inside it. */
  readonly where: string;
  readonly schema: any;
}

/** Every body and answer of the document. */
export function mediaOf(document: OpenApiDocument): Media[] {
  return operationsOf(document).flatMap(({ name, operation }) => {
    const parts: [string, any][] = [
      ['body', resolve(document, operation.requestBody)],
      ...Object.entries<any>(operation.responses).map(([status, response]): [string, any] => [
        status,
        resolve(document, response),
      ]),
    ];
    return parts.flatMap(([part, owner]) =>
      Object.entries(owner?.content ?? {}).map(([type, media]) => ({
        where: `${name} ${part} ${type}`,
        media,
      })),
    );
  });
}

/** Every schema of components, parameters, headers, bodies and responses, including nested schemas. */
export function schemasOf(document: OpenApiDocument): Place[] {
  const named = Object.entries(document.components.schemas).flatMap(([name, schema]) => inner(name, schema));
  const ofParameters = operationsOf(document).flatMap(({ name, operation }) =>
    (operation.parameters ?? []).flatMap((one: any) => {
      const parameter = resolve(document, one);
      return inner(`${name} ?${parameter.name}`, parameter.schema);
    }),
  );
  const ofMedia = mediaOf(document).flatMap(({ where, media }) => inner(where, media.schema));
  return [...named, ...ofParameters, ...ofMedia];
}

function inner(where: string, schema: any): Place[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
    inner(`${where}.${name}`, one),
  );
  const others = ['items', 'additionalProperties', 'not'].flatMap((key) =>
    inner(`${where}.${key}`, schema[key]),
  );
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((key) =>
    (schema[key] ?? []).flatMap((one: any) => inner(`${where}.${key}`, one)),
  );
  return [{ where, schema }, ...members, ...others, ...lists];
}

/** Members with a default. Generators make them required, so that clients send a value that nobody chose. */
export const withDefault = (document: OpenApiDocument): string[] =>
  schemasOf(document)
    .filter(({ schema }) => 'default' in schema)
    .map(({ where }) => where);

/** Schemas for which generators write code that does not compile. */
export const withEnumOfNull = (document: OpenApiDocument): string[] =>
  schemasOf(document)
    .filter(({ schema }) => schema.enum?.every((value: unknown) => value === null))
    .map(({ where }) => where);

const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'multipleOf'];

/** Bounds of the members of a map, except for a minimum of 1. For other bounds, orval writes code that does not compile. */
export const withBoundedMembers = (document: OpenApiDocument): string[] =>
  schemasOf(document)
    .filter(({ schema: { additionalProperties: members } }) =>
      BOUNDS.some(
        (name) => members?.[name] !== undefined && !(name.startsWith('min') && members[name] === 1),
      ),
    )
    .map(({ where }) => where);

/** Members of the type `number` without a fraction in any example; whole numbers must have the type integer. */
export function wholeNumbers(document: OpenApiDocument): string[] {
  const fractions = new Set<string>();
  const visit = (name: string, value: unknown): void => {
    if (typeof value === 'number' && !Number.isInteger(value)) fractions.add(name);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, one] of Object.entries(value)) visit(Array.isArray(value) ? name : key, one);
  };
  for (const { media } of mediaOf(document)) {
    visit('', media.example);
    visit('', media.examples);
  }
  return schemasOf(document)
    .filter(({ schema }) => [schema.type].flat().includes('number'))
    .map(({ where }) => where)
    .filter((where) => !fractions.has(where.split('.').pop() ?? ''));
}

interface ErrorExample {
  /** `POST /path 400 application/json` */
  readonly where: string;
  /** Status and code of the body in the format of its area. */
  readonly status: number | string | undefined;
  readonly code: string | undefined;
  /** The body without the status. */
  readonly rest: string;
}

/** Two areas have codes for two statuses: https://docs.postgrest.org/en/stable/references/errors.html, docs/reference/storage.md. */
const CODES_OF_SEVERAL: Readonly<Record<string, readonly string[]>> = {
  PGRST116: ['404', '406'],
  storage_unavailable: ['500', '503'],
};

/** Examples of errors whose status differs from their response, or whose code occurs with several statuses. */
export function misplacedErrors(document: OpenApiDocument): string[] {
  const examples = mediaOf(document).flatMap(({ where, media }) => errorExample(where, media.example));
  const statusOf = ({ where }: ErrorExample): string => / (\d{3}) /.exec(where)?.[1] ?? '';
  const firstOf = new Map<string, string>();
  return examples.flatMap((one) => {
    const { where, status, code } = one;
    const response = statusOf(one);
    if (status !== undefined && String(status) !== response) return [`${where} has the status ${status}`];
    if (code === undefined || CODES_OF_SEVERAL[code]?.includes(response)) return [];
    const key = `${/^\w+ \/(\w+)/.exec(where)?.[1]} ${code}`;
    const first = firstOf.get(key) ?? response;
    firstOf.set(key, first);
    return first === response ? [] : [`${where} has the code ${code}, which stands at ${first} as well`];
  });
}

function errorExample(where: string, example: any): ErrorExample[] {
  if (!/ [45]\d\d /.test(where)) return [];
  const { status, status_code, statusCode, code, ...others } =
    typeof example?.error === 'object' ? example.error : (example ?? {});
  const isStatus = typeof code === 'number';
  return [
    {
      where,
      status: status ?? status_code ?? statusCode ?? (isStatus ? code : undefined),
      code: isStatus ? undefined : code,
      rest: JSON.stringify([isStatus ? null : code, others]),
    },
  ];
}

/** Errors of one operation with the same example: at least one of the examples must be wrong. */
export function repeatedErrors(document: OpenApiDocument): string[] {
  const seen = new Set<string>();
  return mediaOf(document)
    .flatMap(({ where, media }) => errorExample(where, media.example))
    .filter(({ where, rest }) => {
      const key = `${where.replace(/ \d{3} .*/, '')} ${rest}`;
      return seen.has(key) || !seen.add(key);
    })
    .map(({ where, rest }) => `${where}: ${rest}`);
}

/** Tags of operations that the document does not list, and tags that are out of order. */
export function tagFaults({ tags = [], ...document }: OpenApiDocument): string[] {
  const names = tags.map(({ name }) => name);
  const used = operationsOf(document).flatMap(({ operation }) => operation.tags as string[]);
  const unordered = names.filter((name, i) => name < (names[i - 1] ?? ''));
  return [...new Set([...used.filter((name) => !names.includes(name)), ...unordered])];
}

/** Operations, parameters, answers and headers without a description. */
export function undescribed(document: OpenApiDocument): string[] {
  return operationsOf(document).flatMap(({ name, operation }) => {
    const parameters = (operation.parameters ?? []).map((one: any): [string, any] => {
      const parameter = resolve(document, one);
      return [`${name} ?${parameter.name}`, parameter];
    });
    const answers = Object.entries<any>(operation.responses).flatMap(
      ([status, response]): [string, any][] => {
        const answer = resolve(document, response);
        const headers = Object.entries<any>(answer.headers ?? {}).map(([header, one]): [string, any] => [
          `${name} ${status} ${header}`,
          resolve(document, one),
        ]);
        return [[`${name} ${status}`, answer], ...headers];
      },
    );
    return [[name, operation] as [string, any], ...parameters, ...answers]
      .filter(([, { description }]) => typeof description !== 'string' || description.trim() === '')
      .map(([where]) => where);
  });
}

/** Bodies and responses without an example, or with an example that their schema refuses. */
export function exampleFaults(document: OpenApiDocument): string[] {
  const schemas = new DocumentSchemas(document);
  return mediaOf(document).flatMap(({ where, media }) => {
    if (media.schema?.format === 'binary') return [];
    const examples =
      'example' in media ? [media.example] : Object.values<any>(media.examples ?? {}).map((one) => one.value);
    if (examples.length === 0) return [`${where} has no example`];
    return examples.flatMap((example) =>
      schemas.faultsOf(media.schema, example).map((fault) => `${where}: ${fault}`),
    );
  });
}

/** Schemas of errors that allow members or codes that are not described. */
export function openErrors(document: OpenApiDocument): string[] {
  return operationsOf(document).flatMap(({ name, operation }: NamedOperation) =>
    Object.entries<any>(operation.responses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, response]) => {
        const schema = resolve(document, resolve(document, response).content?.['application/json']?.schema);
        return inner(`${name} ${status}`, schema)
          .filter((place) => place.schema?.properties && place.schema.additionalProperties !== false)
          .map(({ where }) => where);
      }),
  );
}
