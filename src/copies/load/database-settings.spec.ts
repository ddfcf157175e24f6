import { statementFor } from './database-settings';

const TARGET = { database: 'the "db"', roles: new Map([['old_owner', 'new_owner']]) };
const setting = { role: null, in_database: true, name: 'work_mem', value: '64MB' };

it.each([
  [setting, `alter database "the ""db""" set "work_mem" to '64MB'`],
  [
    { ...setting, role: 'old_owner' },
    `alter role "new_owner" in database "the ""db""" set "work_mem" to '64MB'`,
  ],
  [{ ...setting, role: 'old_owner', in_database: false }, `alter role "new_owner" set "work_mem" to '64MB'`],
  [
    { ...setting, name: 'search_path', value: '"$user", public, "a, ""b"' },
    `alter database "the ""db""" set "search_path" to '$user', 'public', 'a, "b'`,
  ],
  [{ ...setting, name: 'search_path', value: '""' }, `alter database "the ""db""" set "search_path" to ''`],
  [
    { ...setting, name: 'app.key"; drop', value: `it's; \\` },
    `alter database "the ""db""" set "app"."key""; drop" to  E'it''s; \\\\'`,
  ],
])('builds a statement from %j', (given, expected) => {
  expect(statementFor(given, TARGET)).toBe(expected);
});
