import type { QualifiedName } from '../../rest/catalog/catalog';
import { nameObjects, type ObjectNames } from './object-names';

const table = (name: string, schema = 'public'): QualifiedName => ({ schema, name });

function named(relations: QualifiedName[], types: QualifiedName[] = []): ObjectNames {
  const steps = nameObjects({
    relations,
    types,
    routines: [table('add'), table('user')],
    reservedSchemas: ['Date', 'UserResponse'],
    reservedOperations: ['deleteFiles', 'getUser'],
    defaultSchema: 'public',
  });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const schemaNames = (relations: QualifiedName[]): string[] => {
  const names = named(relations);
  return relations.map((one) => names.relation(one).schema);
};

it('names tables of the default schema by their words, and puts the schema before other names', () => {
  expect(schemaNames([table('orders'), table('order_items'), table('orders', 'api')])).toEqual([
    'Orders',
    'OrderItems',
    'ApiOrders',
  ]);
});

it('puts the schema before a name that clashes, and a number after it if it still clashes', () => {
  const tables = [table('order items'), table('order_items'), table('ORDER_ITEMS'), table('OrderItems')];
  expect(schemaNames(tables)).toEqual([
    'PublicOrderItems3',
    'OrderItems',
    'PublicORDERITEMS',
    'PublicOrderItems2',
  ]);
  expect(schemaNames([...tables].reverse())).toEqual(schemaNames(tables).reverse());
});

it('keeps names distinct from the bodies of other tables and from reserved names', () => {
  expect(
    schemaNames([table('orders'), table('orders_insert'), table('date'), table('user_response')]),
  ).toEqual(['Orders', 'PublicOrdersInsert', 'PublicDate', 'PublicUserResponse']);
  expect(named([table('mood')], [table('mood', 'api'), table('MOOD')]).type(table('MOOD'))).toBe(
    'PublicMOOD',
  );
});

it('names a function so that its operations and its types in TypeScript are unique', () => {
  expect(named([table('add_args')]).routine(table('add'))).toBe('PublicAdd');
  expect(named([table('add')]).routine(table('add'))).toBe('Add');
});

it('keeps the schema of a table whose operations clash', () => {
  const names = named([table('files')]);
  expect(names.relation(table('files'))).toEqual({ schema: 'Files', operation: 'PublicFiles' });
  expect([names.routine(table('add')), names.routine(table('user'))]).toEqual(['Add', 'PublicUser']);
});
