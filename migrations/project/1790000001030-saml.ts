/** Identity providers of SAML 2.0, their domains, and requests that wait for a response. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Saml1790000001030 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists auth.saml_providers (
        id uuid primary key,
        resource_id text unique,
        enabled boolean not null default true,
        entity_id text not null unique,
        metadata_xml text not null,
        metadata_url text,
        -- When metadata_xml was read from metadata_url.
        metadata_at timestamptz not null,
        -- {"keys": {"email": {"name", "names", "default", "array"}}}
        attribute_mapping jsonb not null,
        name_id_format text,
        created_at timestamptz not null,
        updated_at timestamptz not null
      );

      -- Users of a domain sign in at its provider, which proves their addresses.
      create table if not exists auth.saml_domains (
        domain text primary key check (domain = pg_catalog.lower(domain)),
        provider_id uuid not null references auth.saml_providers (id) on delete cascade
      );
      create index if not exists saml_domains_provider_id on auth.saml_domains (provider_id);

      -- A response answers one of these, once.
      create table if not exists auth.saml_requests (
        id text primary key,
        provider_id uuid not null references auth.saml_providers (id) on delete cascade,
        redirect_to text not null,
        code_challenge text not null,
        code_challenge_method text not null,
        expires_at timestamptz not null
      );
      create index if not exists saml_requests_expires_at on auth.saml_requests (expires_at);
      create index if not exists saml_requests_provider_id on auth.saml_requests (provider_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table auth.saml_requests, auth.saml_domains, auth.saml_providers');
  }
}
