import type { Column } from '../queries/catalog-types';
import { columnsInScope } from './sql-columns';

const column = (name: string): Column => ({
  name,
  type: 'text',
  category: 'S',
  nullable: true,
  default: null,
  always: false,
  labels: null,
  comment: null,
});
const RELATIONS = [
  { schema: 'public', name: 'customers', columns: [column('id'), column('email')] },
  { schema: 'public', name: 'Orders', columns: [column('total')] },
  { schema: 'shop', name: 'carts', columns: [column('open')] },
];

it.each([
  ['select * from customers where ema', ['id', 'email']],
  ['select  from CUSTOMERS', ['id', 'email']],
  ['select * from customers c, "Orders" o', ['id', 'email', 'total']],
  ['select * from customers join shop.carts on ', ['id', 'email', 'open']],
  ['update "Orders" set ', ['total']],
  ['insert into shop . carts (', ['open']],
  ['select * from carts', []],
  ['select customers', []],
])('finds the columns of %j', (statement, labels) => {
  expect(columnsInScope(statement, RELATIONS).map(({ label }) => label)).toEqual(labels);
});
