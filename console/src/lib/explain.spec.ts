import { planOf } from './explain';

const scan = {
  'Node Type': 'Seq Scan',
  'Relation Name': 'orders',
  'Total Cost': 75,
  'Plan Rows': 10,
  Filter: 'paid',
};

it('gives each node its share of the estimated cost', () => {
  const plan = planOf([
    { 'QUERY PLAN': [{ Plan: { 'Node Type': 'Sort', 'Total Cost': 100, Plans: [scan] } }] },
  ]);
  expect(plan).toMatchObject({
    root: { title: 'Sort', share: 0.25, ms: null, isMisjudged: false },
    planning: null,
    execution: null,
  });
  expect(plan?.root.children[0]).toMatchObject({
    title: 'Seq Scan · orders',
    share: 0.75,
    detail: 'Filter: paid',
  });
});

it('uses the measured time of all loops', () => {
  const measured = { ...scan, 'Actual Total Time': 2, 'Actual Loops': 3, 'Actual Rows': 5 };
  const answer = [{ Plan: measured, 'Planning Time': 0.5, 'Execution Time': 7 }];
  expect(planOf([{ 'QUERY PLAN': JSON.stringify(answer) }])).toMatchObject({
    root: { ms: 6, actualRows: 15, isMisjudged: false },
    planning: 0.5,
    execution: 7,
  });
});

it.each([
  [10, 0, true],
  [10, 100, true],
  [1, 0, false],
  [10, 99, false],
])('tells whether an estimate of %j rows is wrong for %j rows', (expected, found, isMisjudged) => {
  const plan = { ...scan, 'Plan Rows': expected, 'Actual Rows': found, 'Actual Total Time': 1 };
  expect(planOf([{ 'QUERY PLAN': [{ Plan: plan }] }])?.root.isMisjudged).toBe(isMisjudged);
});

it('is null for rows that are not a plan', () => {
  expect(planOf([{ a: 1 }])).toBeNull();
  expect(planOf([{ 'QUERY PLAN': 'Seq Scan on orders' }])).toBeNull();
  expect(planOf([{ 'QUERY PLAN': '7' }])).toBeNull();
  expect(planOf([])).toBeNull();
});
