import { beginTabs, reduceTabs, type SqlTabs, titleOf } from './sql-tabs';

const tab = (id: string, text: string) => ({ id, name: null, text, query: undefined });
const state: SqlTabs = { tabs: [tab('a', 'select 1'), tab('b', ''), tab('c', 'select 3')], active: 'b' };
const texts = ({ tabs }: SqlTabs): string[] => tabs.map(({ text }) => text);

it('replaces an empty tab by a new tab, and opens at most 30 tabs', () => {
  const opened = reduceTabs(state, { kind: 'open', text: 'select 4', name: 'four' });
  expect(texts(opened)).toEqual(['select 1', 'select 3', 'select 4']);
  expect(opened.active).toBe(opened.tabs.at(-1)?.id);
  let many = opened;
  for (let count = 0; count < 40; count++) many = reduceTabs(many, { kind: 'open', text: `select ${count}` });
  expect([many.tabs.length, many.tabs.at(-1)?.text]).toEqual([30, 'select 39']);
});

it('closes a tab, shows the previous tab, and always has a tab', () => {
  const closed = reduceTabs(state, { kind: 'close', id: 'b' });
  expect([texts(closed), closed.active]).toEqual([['select 1', 'select 3'], 'a']);
  expect(reduceTabs(state, { kind: 'close', id: 'c' }).active).toBe('b');
  const last = reduceTabs(reduceTabs(closed, { kind: 'close', id: 'a' }), { kind: 'close', id: 'c' });
  expect([texts(last), last.active]).toEqual([[''], last.tabs[0]?.id]);
});

it('names a tab by the saved query, or by its text', () => {
  expect(titleOf({ ...tab('a', 'select 1'), name: 'ones' })).toBe('ones');
  expect(titleOf(tab('a', '-- about\n/* x */ select\n  1'))).toBe('select 1');
  expect(titleOf(tab('a', ' -- nothing'))).toBeNull();
});

it('begins with the query of the address, in its tab if there is one', () => {
  const kept = { ...state, tabs: state.tabs.with(0, { ...tab('a', 'select 1'), query: 'q' }) };
  expect(beginTabs(kept, 'q', '').active).toBe('a');
  expect(beginTabs(kept, undefined, '')).toBe(kept);
  expect(texts(beginTabs(kept, 'other', ''))).toEqual(['select 1', 'select 3', 'other']);
  expect(texts(beginTabs(null, undefined, 'last one'))).toEqual(['last one']);
});
