import { catalogFromDocument, type ProjectDocument } from './catalog-from-document';

const list = (name: string) => ({
  get: {
    responses: {
      '200': {
        content: { 'application/json': { schema: { items: { $ref: `#/components/schemas/${name}` } } } },
      },
    },
  },
});

const document: ProjectDocument = {
  paths: {
    '/p/acme/rest/v1/order%20items': list('OrderItems'),
    '/p/acme/rest/v1/api.notes': list('ApiNotes'),
    '/p/acme/rest/v1/rpc/add': {},
    '/p/acme/storage/buckets': list('OrderItems'),
  },
  components: {
    schemas: {
      OrderItems: {
        properties: {
          id: { type: 'integer', 'x-postgres-type': 'bigint', description: 'A key.<pk/>' },
          mood: { $ref: '#/components/schemas/Mood' },
        },
      },
      Mood: { type: 'string', 'x-postgres-type': 'mood' },
      ApiNotes: { properties: {} },
    },
  },
};

it('reads tables and views with their schema, key and types', () => {
  const tables = [{ schema: 'public', name: 'order items', rls_enabled: true, estimated_rows: 7 }];
  const [items, notes, ...rest] = catalogFromDocument(document, tables, ['public', 'api']);
  expect(rest).toEqual([]);
  expect(items).toMatchObject({
    schema: 'public',
    name: 'order items',
    kind: 'table',
    rls: true,
    primaryKey: ['id'],
  });
  expect(items?.columns.map(({ name, type, category }) => [name, type, category])).toEqual([
    ['id', 'bigint', 'N'],
    ['mood', 'mood', 'S'],
  ]);
  expect(notes).toMatchObject({ schema: 'api', name: 'notes', kind: 'view', policies: null });
});
