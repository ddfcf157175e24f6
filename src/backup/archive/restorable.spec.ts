import { randomBytes } from 'node:crypto';
import type { ArchivedSecrets, ArchiveHeader } from './archive-format';
import { assertProjectHeader } from './archive-checks';
import { parseHeader } from './open-archive';
import { restorable } from './restorable';

const table = (index: number, columns: readonly string[]): ArchiveHeader['tables'][number] => ({
  member: `data/${index}.copy`,
  schema: 'public',
  name: `t${index}`,
  columns,
});

const header = (count: number, columns: readonly string[] = []): ArchiveHeader => ({
  format: 1,
  plinth: '0.1.0',
  postgres: 180_000,
  created_at: '2026-01-01T00:00:00.000Z',
  project: {
    id: 'abcdefghijklmnopqrst',
    slug: 'a',
    name: 'A',
    plan: 'free',
    created_at: '2026-01-01T00:00:00.000Z',
    schema_version: '1_first',
    owner_role: 'o',
    login_role: 'l',
  },
  extensions: [],
  tables: Array.from({ length: count }, (_, index) => table(index, columns)),
  sequences: [],
  key: { kdf: 'scrypt', n: 1, r: 1, p: 1, salt: 'AAAA' },
});

const SECRETS: ArchivedSecrets = { settings: {}, owner_password: 'p', data_secret: 'd', secrets: [] };
/** Almost as many as the limits allow. */
const TABLES = 20_000;
const COLUMNS = Array.from({ length: 80 }, (_, index) => `c${index}`);

describe('what a backup writes', () => {
  it('is what a restore reads, for thousands of tables of 80 columns', async () => {
    const { headerBytes } = await restorable(header(TABLES, COLUMNS), SECRETS);
    const read = await parseHeader<ArchiveHeader>(headerBytes);
    await assertProjectHeader(read);
    expect(read.tables).toHaveLength(TABLES);
    expect({ ...read, tables: read.tables.slice(-1) }).toEqual({
      ...header(0),
      tables: [table(TABLES - 1, COLUMNS)],
    });
  });

  it.each([
    ['tables', header(50_000), SECRETS, /more than 25000 tables/],
    ['columns', header(25_000, COLUMNS), SECRETS, /header.json has more than/],
    ['bytes', header(5_000, [randomBytes(4_000).toString('hex')]), SECRETS, /header.json is larger than/],
    ['characters of a name', header(1, ['n'.repeat(1_001)]), SECRETS, /header.json has no valid tables\[0\]/],
    [
      'characters of settings',
      header(1),
      {
        ...SECRETS,
        database_settings: Array.from({ length: 200 }, () => ({
          ...{ role: null, in_database: true, name: 'a.b' },
          value: 'x'.repeat(99_000),
        })),
      },
      /secrets.sealed is larger than/,
    ],
  ])('is refused before it begins for too many %s', async (_name, large, secrets, message) => {
    await expect(restorable(large, secrets)).rejects.toMatchObject({
      code: 'backup_not_supported',
      message: expect.stringMatching(message) as string,
    });
  });
});
