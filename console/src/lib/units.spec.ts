import { fittingUnit, unitsOf } from './units';

it.each([
  ['access_token_lifetime', 3_600, 'h'],
  ['access_token_lifetime', 5_400, 'min'],
  ['refresh_token_lifetime', 2_592_000, 'd'],
  ['refresh_token_lifetime', 61, 's'],
  ['statement_timeout', 8_000, 's'],
  ['statement_timeout', 1_500, 'ms'],
  ['max_file_size', 52_428_800, 'MiB'],
  ['max_file_size', 1_000_000, 'bytes'],
  ['storage_quota_bytes', 0, 'bytes'],
  ['storage_quota_bytes', null, 'bytes'],
])('shows %s of %d in %s', (setting, value, label) => {
  expect(fittingUnit(unitsOf(setting) ?? [], value).label).toBe(label);
});
