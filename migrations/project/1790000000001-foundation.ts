/**
 * Schemas and SQL helpers of a project's database. Runs as the database's owner role; the global roles anon,
 * authenticated and service_role exist before. What needs a superuser is in src/projects/provisioning/event-triggers.ts.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Foundation1790000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      revoke all on schema public from public;
      grant usage on schema public to anon, authenticated, service_role;
      create schema auth;
      create schema storage;
      create schema if not exists extensions;
      grant usage on schema auth, storage, extensions to anon, authenticated, service_role;

      create function auth.jwt() returns jsonb language sql stable parallel safe
        return coalesce(nullif(pg_catalog.current_setting('request.jwt.claims', true), ''), '{}')::jsonb;

      -- Null for a token whose sub is no UUID: a foreign subject matches no row instead of failing every policy.
      create function auth.uid() returns uuid language sql stable parallel safe
        return case when auth.jwt() ->> 'sub' ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
                    then (auth.jwt() ->> 'sub')::uuid end;

      create function auth.role() returns text language sql stable parallel safe
        return auth.jwt() ->> 'role';

      create function auth.email() returns text language sql stable parallel safe
        return auth.jwt() ->> 'email';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'drop schema extensions cascade; drop schema storage cascade; drop schema auth cascade;',
    );
  }
}
