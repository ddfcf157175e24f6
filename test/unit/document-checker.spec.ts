/** The check of exchanges against an OpenAPI document finds every kind of difference. */
import { DocumentChecker, type Exchange } from '../support/documented/document-checker';
import type { OpenApiDocument } from '../support/openapi';

const NOTE = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } };
const json = (schema: object): object => ({ 'application/json': { schema } });

const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Notes', version: '1' },
  servers: [],
  paths: {
    '/notes/{id}': {
      get: {
        parameters: [{ name: 'fields', in: 'query', schema: { type: 'string' } }],
        responses: {
          200: {
            description: 'A note',
            headers: { ETag: {} },
            content: json({ $ref: '#/components/schemas/Note' }),
          },
          304: { description: 'Unchanged' },
        },
      },
      patch: {
        requestBody: {
          content: json({ type: 'object', properties: { title: { type: 'string', nullable: true } } }),
        },
        responses: { 200: { description: 'A note', content: json(NOTE) } },
      },
    },
    '/notes': {
      get: {
        parameters: [
          {
            name: 'filters',
            in: 'query',
            explode: true,
            schema: { type: 'object', additionalProperties: { type: 'string' } },
          },
        ],
        responses: { 200: { description: 'A note', content: json(NOTE) } },
      },
    },
    '/notes/latest': {
      get: { responses: { 200: { description: 'A text', content: { 'text/plain': {} } } } },
    },
  },
  components: { schemas: { Note: NOTE }, parameters: {}, responses: {}, securitySchemes: {} },
} as unknown as OpenApiDocument;

const checker = new DocumentChecker(DOCUMENT);

interface Sent extends Partial<Omit<Exchange, 'answer'>> {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly text?: string;
}

function faultsOf({ status = 200, headers = {}, text = '{"title":"a"}', ...sent }: Sent): string[] {
  const answer = {
    status,
    headers: new Headers({ 'content-type': 'application/json; charset=utf-8', ...headers }),
    text,
    body: text.startsWith('{') ? (JSON.parse(text) as unknown) : undefined,
  };
  return checker.faultsOf({
    method: 'GET',
    path: '/notes/1',
    contentType: undefined,
    body: undefined,
    answer,
    ...sent,
  });
}

it.each<[string, Sent]>([
  ['an answer as documented', {}],
  ['a documented header and headers of HTTP', { headers: { etag: '"1"', date: 'now', vary: 'Origin' } }],
  ['a documented query parameter', { path: '/notes/1?fields=title' }],
  ['a parameter of any name as a member of an object', { path: '/notes?title=eq.a' }],
  ['an answer to HEAD', { method: 'HEAD', text: '' }],
  ['an answer without a body', { status: 304, text: '' }],
  ['the refusal of an unknown path', { path: '/nothing', status: 404 }],
  ['the refusal of an unknown method', { method: 'DELETE', status: 405 }],
  [
    'a path with a fixed name before one with a parameter',
    { path: '/notes/latest', headers: { 'content-type': 'text/plain' }, text: 'a' },
  ],
  ['a body as documented', { method: 'PATCH', body: { title: null } }],
])('accepts %s', (_case, sent) => {
  expect(faultsOf(sent)).toEqual([]);
});

it.each<[string, Sent, RegExp]>([
  ['a success of an unknown path', { path: '/nothing' }, /operation is not documented/],
  ['a success of an unknown method', { method: 'DELETE' }, /operation is not documented/],
  ['a status', { status: 418 }, /status 418 is not documented/],
  ['a header', { headers: { 'x-other': '1' } }, /header x-other/],
  ['a media type', { headers: { 'content-type': 'text/html' }, text: '<p>' }, /body of type text\/html/],
  ['a member of the answer', { text: '{"title":"a","more":1}' }, /"more"/],
  ['a missing member', { text: '{}' }, /'title'/],
  ['a member of another type', { text: '{"title":1}' }, /\/title must be string/],
  ['a query parameter', { path: '/notes/1?other=1' }, /query parameter other/],
  ['a member of the body', { method: 'PATCH', body: { other: 1 } }, /request: .*"other"/],
  ['a member of the body, sent as text', { method: 'PATCH', body: '{"other":1}' }, /request: .*"other"/],
  ['the media type of the body', { method: 'PATCH', body: 'a', contentType: 'text/csv' }, /text\/csv/],
  ['an undocumented body', { body: { title: 'a' } }, /request body/],
])('finds %s that the document does not have', (_case, sent, fault) => {
  expect(faultsOf(sent)).toEqual([expect.stringMatching(fault)]);
});

it('does not check the body of a refused request', () => {
  expect(faultsOf({ method: 'PATCH', status: 400, body: { other: 1 } })).toEqual([
    expect.stringContaining('status 400 is not documented'),
  ]);
});
