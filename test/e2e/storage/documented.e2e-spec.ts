/** Storage responses match /openapi.json: every status is documented, and every body matches its schema. */
import Ajv from 'ajv';
import { HttpAnswer } from '../../support/http-client';
import { NamedOperation, OpenApiDocument, operationsOf, resolve } from '../../support/openapi';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
let storage: string;
let file: string;
let document: OpenApiDocument;
let operations: NamedOperation[];
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  storage = project.storage;
  await user.post(`${storage}/buckets`, { name: 'box', is_public: true, allowed_mime_types: ['text/*'] });
  file = `${storage}/files/${(await upload(user, storage, 'box', 'abc', { name: 'first' })).body.data.id}`;
  document = (await user.get('/openapi.json')).body;
  operations = operationsOf(document).filter(({ path }) => path.startsWith('/p/{project_slug}/storage/'));
});
afterAll(() => plinth.stop());

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */
/** Converts OpenAPI 3.0's dialect to JSON Schema, with references resolved. Undocumented members are errors. */
function schemaOf(node: any): any {
  const schema = resolve(document, node);
  if (Array.isArray(schema)) return schema.map(schemaOf);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { nullable, example: _example, description: _description, format: _format, ...rest } = schema;
  const plain = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === 'properties'
        ? Object.fromEntries(
            Object.entries(value as object).map(([name, member]) => [name, schemaOf(member)]),
          )
        : schemaOf(value),
    ]),
  );
  if (nullable) plain.type = [plain.type, 'null'];
  return plain.properties ? { additionalProperties: false, ...plain } : plain;
}

function expectDocumented(method: string, path: string, { status, headers, body, text }: HttpAnswer): void {
  const address = path.split('?')[0] as string;
  const { operation } = operations
    // `/files/bulk-delete` rather than `/files/{file_id}`.
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
    .find(
      ({ name, path: template }) =>
        name.startsWith(`${method} `) &&
        new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(address),
    ) as NamedOperation;
  const documented = resolve(document, operation.responses[status]);
  expect([method, path, status, documented ? 'documented' : text]).toEqual([
    method,
    path,
    status,
    'documented',
  ]);
  for (const name of Object.keys(documented.headers ?? {}).filter((one) => one.startsWith('X-RateLimit')))
    expect([name, headers.has(name)]).toEqual([name, true]);
  if (!headers.get('content-type')?.startsWith('application/json')) return;
  const validate = new Ajv({ strict: false }).compile(
    schemaOf(documented.content['application/json'].schema),
  );
  expect([method, path, validate(body), validate.errors]).toEqual([method, path, true, null]);
}

/** Placeholder for a body above the limit for bodies read into memory. */
const TOO_LARGE = 'too large';
const NONE = '/files/00000000-0000-4000-8000-000000000000';

it.each<[string, number, string, string, unknown?, Record<string, string>?]>([
  [
    'a bucket',
    201,
    'POST',
    '/buckets',
    { name: 'made', description: 'd', quota_files: 5, cache_control: 'no-store' },
  ],
  ['a taken bucket name', 409, 'POST', '/buckets', { name: 'made' }],
  ['a body that is too large', 413, 'POST', '/buckets', TOO_LARGE],
  ['a body of another type', 415, 'POST', '/buckets', 'name=x', { 'content-type': 'text/plain' }],
  ['buckets', 200, 'GET', '/buckets'],
  ['a bucket whose name cannot be read', 400, 'GET', '/buckets/%ff'],
  ['the same bucket, to be deleted', 400, 'DELETE', '/buckets/%ff'],
  ['a change', 200, 'PATCH', '/buckets/made', { is_public: true }],
  ['a change of another type', 415, 'PATCH', '/buckets/made', 'x', { 'content-type': 'text/plain' }],
  ['a deletion', 200, 'DELETE', '/buckets/made'],
  ['no bucket', 404, 'GET', '/buckets/made'],
  ['a list', 200, 'GET', '/buckets/box/files'],
  ['an invalid limit', 400, 'GET', '/buckets/box/files?limit=x'],
  ['folders', 200, 'GET', '/buckets/box/folders'],
  ['an upload without a file', 400, 'POST', '/buckets/box/upload', {}],
  ['a record', 200, 'GET', ':file'],
  ['a file whose id cannot be read', 400, 'GET', '/files/%ff'],
  ['metadata', 200, 'PATCH', ':file', { metadata: { a: [1, null] } }],
  ['a type that the bucket does not take', 415, 'PATCH', ':file', { content_type: 'image/png' }],
  ['a copy', 201, 'POST', ':file/copy', { filename: 'copy' }],
  ['another copy', 409, 'POST', ':file/copy', { filename: 'copy' }],
  ['an address', 200, 'POST', ':file/signed-url', { expiry: '5m' }],
  [
    'an address asked for in another type',
    415,
    'POST',
    ':file/signed-url',
    'x',
    { 'content-type': 'text/plain' },
  ],
  [
    'addresses, and an error',
    200,
    'POST',
    '/files/bulk-signed-urls',
    { expiry: '5m', file_ids: [':id', 'x'] },
  ],
  ['addresses of too long a list', 413, 'POST', '/files/bulk-signed-urls', TOO_LARGE],
  ['bytes', 200, 'GET', ':file/download'],
  ['a range of the bytes', 206, 'GET', ':file/download', undefined, { range: 'bytes=0-0' }],
  ['a range beyond the bytes', 416, 'GET', ':file/download', undefined, { range: 'bytes=9-' }],
  ['two names', 400, 'GET', ':file/download?download=a&download=b'],
  ['a preview', 200, 'GET', ':file/preview'],
  ['an invalid name', 400, 'GET', ':file/preview?download=%00'],
  ['an invalid signature', 401, 'GET', ':file/signed?expires=1'],
  ['a revocation', 200, 'DELETE', ':file/signed-urls'],
  ['a list of deletions', 200, 'POST', '/files/bulk-delete', { file_ids: ['x'] }],
  ['a list of another type', 415, 'POST', '/files/bulk-delete', 'x', { 'content-type': 'text/plain' }],
  ['no file', 404, 'DELETE', NONE],
])('%s: %i', async (_case, status, method, template, ...[body, headers]) => {
  const path = template.startsWith(':file') ? template.replace(':file', file) : storage + template;
  const json = JSON.stringify(body)?.replace(':id', file.slice(-36));
  const sent = body === TOO_LARGE ? 'x'.repeat(2_000_000) : typeof body === 'object' ? json : body;
  const answer = await user.send(method, path, { body: sent, headers });
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([status, expect.any(String)]);
  expectDocumented(method, path, answer);
});
