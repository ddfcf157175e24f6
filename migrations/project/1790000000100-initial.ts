/** The schema of a project's database. Runs as its owner role. */
import { MigrationInterface, QueryRunner } from 'typeorm';
import { AUTH_FUNCTIONS } from './sql/auth-functions';
import { AUTH_TABLES } from './sql/auth-tables';
import { CALLER_FUNCTIONS, SCHEMAS } from './sql/foundation';
import { STORAGE_CHARGES } from './sql/storage-charges';
import { STORAGE_LISTS } from './sql/storage-lists';
import { STORAGE_POLICIES } from './sql/storage-policies';
import { STORAGE_TABLES } from './sql/storage-tables';
import { STORAGE_TOTALS } from './sql/storage-totals';

const SECTIONS = [
  SCHEMAS,
  CALLER_FUNCTIONS,
  AUTH_TABLES,
  AUTH_FUNCTIONS,
  STORAGE_TABLES,
  STORAGE_POLICIES,
  STORAGE_CHARGES,
  STORAGE_TOTALS,
  STORAGE_LISTS,
];

export class Initial1790000000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const section of SECTIONS) await runner.query(section);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema storage cascade; drop schema auth cascade;');
  }
}
