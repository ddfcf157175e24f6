import { isQuota, parseMarks } from './quota';

it.each<[unknown, object[]]>([
  ['project=80', [{ scope: 'project', percent: 80, isNew: false }]],
  ['bucket=95!', [{ scope: 'bucket', percent: 95, isNew: true }]],
  [
    'project=95!,bucket=80',
    [
      { scope: 'project', percent: 95, isNew: true },
      { scope: 'bucket', percent: 80, isNew: false },
    ],
  ],
])('reads the marks of %j', (text, marks) => expect(parseMarks(text)).toEqual(marks));

it.each([
  null,
  undefined,
  '',
  7,
  ['project=80'],
  'project=81',
  'project=80,',
  'project=80\r\nX-Evil: 1',
  'bucket=80,project=80',
  'project=80,project=80',
  'project=80,'.repeat(100_000),
  `project=${'9'.repeat(1_000)}`,
])('ignores all other text', (text) => expect(parseMarks(text)).toEqual([]));

it('knows the quotas that the database names', () => {
  expect(isQuota('project', 'bytes', 7)).toBe(true);
  expect(isQuota('bucket', 'files', 0)).toBe(true);
  for (const [scope, unit, quota] of [
    ['<script>', 'bytes', 7],
    ['project', '\r\n', 7],
    ['project', 'bytes', NaN],
    ['project', 'bytes', -1],
    [undefined, undefined, 7],
  ] as const)
    expect(isQuota(scope, unit, quota)).toBe(false);
});
