import { mostSimilar, NEARLY } from './similar';

describe('the closest name', () => {
  const RELATIONS = ['customers', 'customer_orders', 'invoices', 'warehouse_items', 'x'];
  it.each([
    ['custmers', 'customers'],
    ['CUSTOMERS', 'customers'],
    ['order', 'customer_orders'],
    ['invioces', 'invoices'],
    ['warehouseitems', 'warehouse_items'],
    ['zebra', null],
    ['', null],
  ])('to %s is %s', (name, expected) => {
    expect(mostSimilar(name, RELATIONS)).toBe(expected);
  });

  it('compares lists of arguments as texts', () => {
    const lists = ['(amount, customer)', '(amount)', '()'];
    expect(mostSimilar('(amount, custmer)', lists)).toBe('(amount, customer)');
    expect(mostSimilar('(zone)', lists)).toBeNull();
  });

  it('compares letters among the names with the most n-grams in common', () => {
    expect(mostSimilar('total_in_eur', ['total_in_usd', 'total_in_euro', 'eur'])).toBe('total_in_euro');
  });

  it.each([
    ['projectx', 'projects'],
    ['projecxx', 'projects'],
    ['projxxxx', null],
    ['project', 'projects'],
    ['proj', null],
  ])('to %s, with a required similarity of three quarters, is %s', (name, expected) => {
    expect(mostSimilar(name, ['projects', 'tasks'], NEARLY)).toBe(expected);
  });

  it('gives no hint for too many or too long names', () => {
    const many = Array.from({ length: 2_001 }, (_, index) => `name_${index}`);
    expect(mostSimilar('name_', many)).toBeNull();
    expect(mostSimilar('n'.repeat(201), ['n'.repeat(201)])).toBeNull();
  });
});
