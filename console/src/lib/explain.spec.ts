import { planOf } from './explain';

const scan = {
  'Node Type': 'Seq Scan',
  'Relation Name': 'orders',
  'Total Cost': 75,
  'Plan Rows': 10,
  Filter: 'paid',
};

it('gives each node its part of the estimated cost', () => {
  const plan = planOf([
    { 'QUERY PLAN': [{ Plan: { 'Node Type': 'Sort', 'Total Cost': 100, Plans: [scan] } }] },
  ]);
  expect(plan).toMatchObject({ title: 'Sort', share: 0.25, ms: null });
  expect(plan?.children[0]).toMatchObject({
    title: 'Seq Scan · orders',
    share: 0.75,
    detail: 'Filter: paid',
  });
});

it('uses the measured time of all loops', () => {
  const measured = { ...scan, 'Actual Total Time': 2, 'Actual Loops': 3, 'Actual Rows': 5 };
  expect(planOf([{ 'QUERY PLAN': JSON.stringify([{ Plan: measured }]) }])).toMatchObject({
    ms: 6,
    actualRows: 15,
  });
});

it('is null for rows that are no plan', () => {
  expect(planOf([{ a: 1 }])).toBeNull();
  expect(planOf([])).toBeNull();
});
