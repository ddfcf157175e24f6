import type { RlsTransaction } from '../database/rls/rls-transaction';
import type { CatalogService } from '../rest/catalog/catalog.service';
import type { Change, ChangedRelation } from './change';
import { RowCheck, type RowGroup } from './row-check.service';

const RELATION: ChangedRelation = {
  kind: 'relation',
  id: 1,
  schema: 'public',
  name: 't',
  columns: ['id'],
  keys: ['id'],
  isFull: false,
};
const CHANGE: Change = {
  relation: RELATION,
  type: 'INSERT',
  row: ['1'],
  old: null,
  position: { commit: 1n, index: 1 },
  at: '2026-01-01T00:00:00.000000Z',
};
const GROUP = {
  caller: { project: { settings: { extra_search_path: [] } } },
  rights: {
    id: 1,
    isPartition: false,
    isReachable: true,
    isSecured: false,
    columns: [{ name: 'id', type: 'int4', isJson: false, isReadable: true, isKey: true }],
    policies: null,
  },
  filters: [],
} as unknown as RowGroup;

/** @returns the result for the change when each statement fails */
async function visibleAfter(code: string): Promise<unknown> {
  const failure = Object.assign(new Error(`${code} of a test`), { code });
  const door = { query: () => Promise.reject(failure) } as unknown as RlsTransaction;
  const { visible } = await new RowCheck(door, {} as CatalogService).check(GROUP, [CHANGE]);
  return visible;
}

// A change that nobody checked is read again from the log. If it were skipped as unreadable, it would be lost.
it.each([
  'EPIPE',
  'ECONNRESET',
  '08006',
  '26000',
  '28P01',
  '3D000',
  '40001',
  '53300',
  '55P03',
  '57P01',
  'XX000',
])('fails with %s, which the row did not cause', async (code) =>
  expect(visibleAfter(code)).rejects.toMatchObject({ code }),
);

it.each(['22P02', '42501', 'P0001'])('delivers no row on which the policies fail with %s', async (code) =>
  expect(await visibleAfter(code)).toEqual([null]),
);
