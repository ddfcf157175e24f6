/** Responses about projects, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';
import { KEY_PAIR_ALGORITHMS, type KeyPairAlgorithm } from '../../../infra/crypto/jws';
import { SIGNING_KEY_STATUSES, type SigningKeyStatus } from '../../signing-keys';
import { Plan, PLANS } from '../../plans';
import { effectiveSettings, ProjectSettings } from '../../project-settings';

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

@Example(PROJECT)
export class ProjectResponse {
  @ApiProperty({ example: 'k3v9x0a1b2c3d4e5f6g7' }) readonly id!: string;
  @ApiProperty({ example: 'acme' }) readonly slug!: string;
  @ApiProperty({ example: 'Acme' }) readonly name!: string;
  @ApiProperty({ enum: PLANS }) readonly plan!: Plan;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'platform',
    description: 'Name of the server that has its database; null for one of its own (`database_url`)',
  })
  readonly server!: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Since when it is paused; null while it serves requests',
  })
  readonly paused_at!: Date | null;
  @ApiProperty({ type: ProjectSettings, description: 'All settings, defaults included' })
  readonly settings!: ProjectSettings;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: String, format: 'date-time' }) readonly updated_at!: Date;
}

export class ProjectKeys {
  @ApiProperty({ description: 'Public; for use in client code' }) readonly anon_key!: string;
  @ApiProperty({ description: 'Secret; bypasses row-level security' }) readonly service_role_key!: string;
}

@Example({ ...PROJECT, ...KEYS })
export class CreatedProject extends ProjectResponse implements ProjectKeys {
  @ApiProperty({ description: 'Public; for use in client code' }) readonly anon_key!: string;
  @ApiProperty({ description: 'Secret; bypasses row-level security' }) readonly service_role_key!: string;
}

const SIGNING_KEY = {
  kid: 'p4w7d2m9c0e5r1t8y3u6',
  algorithm: 'ES256',
  status: 'current',
  created_at: CREATED,
  expires_at: null,
};

@Example(SIGNING_KEY)
export class SigningKeyResponse {
  @ApiProperty({ description: 'Names the key in tokens and in the key set' }) readonly kid!: string;
  @ApiProperty({ enum: KEY_PAIR_ALGORITHMS }) readonly algorithm!: KeyPairAlgorithm;
  @ApiProperty({
    enum: SIGNING_KEY_STATUSES,
    description: '`next` is published and signs after the next rotation, `previous` only verifies',
  })
  readonly status!: SigningKeyStatus;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When a previous key stops to verify; null for the others',
  })
  readonly expires_at!: Date | null;
}

@Example({ ...KEYS, jwt_secret: 'sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2', signing_keys: [SIGNING_KEY] })
export class ProjectKeysWithSecret extends ProjectKeys {
  @ApiProperty({ description: "Signs the two keys, and tokens of the project's own backend (HS256)" })
  readonly jwt_secret!: string;
  @ApiProperty({
    type: [SigningKeyResponse],
    description: "The key pairs of users' tokens; none where `jwt_algorithm` is HS256",
  })
  readonly signing_keys!: SigningKeyResponse[];
}

@Example({ id: ID, deleted: true })
export class DeletedProject {
  @ApiProperty({ description: 'The id of the project' }) readonly id!: string;
  @ApiProperty({ description: 'False while the database is still being dropped' })
  readonly deleted!: boolean;
}

@Example({
  host: 'db.example.com',
  port: 5432,
  database: 'plinth_k3v9x0a1b2c3d4e5f6g7',
  owner_role: 'plinth_k3v9x0a1b2c3d4e5f6g7_owner',
  owner_password: 'q8ZtR2nW5xYb',
  owner_url:
    'postgres://plinth_k3v9x0a1b2c3d4e5f6g7_owner:q8ZtR2nW5xYb@db.example.com:5432/plinth_k3v9x0a1b2c3d4e5f6g7',
  login_role: 'plinth_k3v9x0a1b2c3d4e5f6g7_login',
})
export class DatabaseAccess {
  @ApiProperty() readonly host!: string;
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 65_535 }) readonly port!: number;
  @ApiProperty() readonly database!: string;
  @ApiProperty() readonly owner_role!: string;
  @ApiProperty() readonly owner_password!: string;
  @ApiProperty({ description: 'For psql and migration tools' }) readonly owner_url!: string;
  @ApiProperty({ description: 'The role that requests log in with; grant it the roles that tokens may name' })
  readonly login_role!: string;
}
