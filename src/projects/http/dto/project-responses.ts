/** Responses about projects, as types and as OpenAPI schemas. */
import { KEY_PAIR_ALGORITHMS } from '../../../infra/crypto/jws';
import { SIGNING_KEY_STATUSES } from '../../signing-keys';
import { PLANS } from '../../plans';
import { effectiveSettings, ProjectSettings } from '../../project-settings';
import * as f from '../../../http/model/fields';

const ID = 'k3v9x0a1b2c3d4e5f6g7';
const CREATED = '2026-01-01T08:00:00.000Z';
const ANON_KEY = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2lnbmF0dXJl';
const SERVICE_ROLE_KEY = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.c2lnbmF0dXJl';
const KEYS = { anon_key: ANON_KEY, service_role_key: SERVICE_ROLE_KEY };
const PROJECT = {
  id: ID,
  slug: 'acme',
  name: 'Acme',
  plan: 'pro',
  server: 'platform',
  paused_at: null,
  settings: effectiveSettings({ max_rows: 1000 }),
  created_at: CREATED,
  updated_at: CREATED,
};

export class ProjectResponse extends f.model({
  id: f.text({ example: ID }),
  slug: f.text({ example: 'acme' }),
  name: f.text({ example: 'Acme' }),
  plan: f.choice(PLANS, { example: 'pro' }),
  server: f.nullable.text(
    'Name of the server that has its database; null if the project has its own server (`database_url`)',
    { example: 'platform' },
  ),
  paused_at: f.nullable.time('Since when it is paused; null while it serves requests'),
  settings: f.object(ProjectSettings, 'All settings, defaults included', {
    example: effectiveSettings({ max_rows: 1000 }),
  }),
  created_at: f.time(),
  updated_at: f.time(),
}) {}

export class ProjectKeys extends f.model({
  anon_key: f.text('Public; for use in client code', { example: 'eyJ...' }),
  service_role_key: f.text('Secret; bypasses row-level security', { example: 'eyJ...' }),
}) {}

@f.Example({ ...PROJECT, ...KEYS })
export class CreatedProject
  extends f.model(ProjectResponse, {
    anon_key: f.text('Public; for use in client code', { example: 'eyJ...' }),
    service_role_key: f.text('Secret; bypasses row-level security', { example: 'eyJ...' }),
  })
  implements ProjectKeys {}

class SigningKeyResponse extends f.model({
  kid: f.text('Names the key in tokens and in the key set', { example: 'p4w7d2m9c0e5r1t8y3u6' }),
  algorithm: f.choice(KEY_PAIR_ALGORITHMS, { example: 'ES256' }),
  status: f.choice(
    SIGNING_KEY_STATUSES,
    '`next` is published and signs after the next rotation, `previous` only verifies',
    { example: 'current' },
  ),
  created_at: f.time(),
  expires_at: f.nullable.time('When a previous key stops verifying; null for the others'),
}) {}

export class ProjectKeysWithSecret extends f.model(ProjectKeys, {
  jwt_secret: f.text("Signs the two keys, and tokens of the project's own backend (HS256)", {
    example: 'sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2',
  }),
  signing_keys: f.list(
    SigningKeyResponse,
    "The key pairs of users' tokens; none where `jwt_algorithm` is HS256",
  ),
}) {}

export class DeletedProject extends f.model({
  id: f.text('The id of the project', { example: ID }),
  deleted: f.flag('False while the database is still being dropped'),
}) {}

export class DatabaseAccess extends f.model({
  host: f.text({ example: 'db.example.com' }),
  port: f.whole({ minimum: 1, maximum: 65_535, example: 5432 }),
  database: f.text({ example: 'plinth_k3v9x0a1b2c3d4e5f6g7' }),
  owner_role: f.text({ example: 'plinth_k3v9x0a1b2c3d4e5f6g7_owner' }),
  owner_password: f.text({ example: 'q8ZtR2nW5xYb' }),
  owner_url: f.text('For psql and migration tools', {
    example:
      'postgres://plinth_k3v9x0a1b2c3d4e5f6g7_owner:q8ZtR2nW5xYb@db.example.com:5432/plinth_k3v9x0a1b2c3d4e5f6g7',
  }),
  login_role: f.text('The role that requests log in with; grant it the roles that tokens may name', {
    example: 'plinth_k3v9x0a1b2c3d4e5f6g7_login',
  }),
}) {}
