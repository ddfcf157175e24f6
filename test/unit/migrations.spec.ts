/** No migration that existing data can have is removed, renamed or reordered (docs/guides/upgrades.md). */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Migrations that must be kept; a release adds its migrations. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  platform: [
    '1790000000100-initial',
    '1790000000217-project-data-secret',
    '1790000000300-staff',
    '1790000000317-backup-schedules',
    '1790000000340-audit-chain',
    '1790000000341-project-samples',
    '1790000000342-advice-dismissals',
    '1790000000370-staff-oidc',
    '1790000000371-staff-passkeys',
    '1790000000400-database-servers',
    '1790000000440-project-pause',
    '1790000000441-saved-queries',
    '1790000000450-server-replicas',
    '1790000000460-project-moves',
    '1790000000480-staff-proved-addresses',
    '1790000000485-staff-step-up',
    '1790000000520-signing-keys',
  ],
  project: [
    '1790000000100-initial',
    '1790000000200-requested-mails',
    '1790000000300-supabase-storage',
    '1790000000510-sign-in-codes',
  ],
};

it.each(Object.entries(KEPT))('keeps the migrations of the databases of kind %s', (kind, kept) => {
  const found = readdirSync(join(ROOT, 'migrations', kind))
    .filter((name) => /^\d+-.*\.ts$/.test(name))
    .map((name) => name.replace(/\.ts$/, ''))
    .sort();
  expect(found.slice(0, kept.length)).toEqual(kept);
});
