/** Path parameters of the OpenAPI document, by name. */
import { ApiParam } from '@nestjs/swagger';
import { UUID_EXAMPLE } from './documented-types';

interface PathParameter {
  readonly description: string;
  readonly example: string | number;
  readonly type?: 'string' | 'integer';
  readonly format?: 'uuid';
}

const PROJECT_ID = 'k3v9x0a1b2c3d4e5f6g7';

/** `id` and `name` have the segment before them, because several resources have one. */
const PATH_PARAMETERS: Readonly<Record<string, PathParameter>> = {
  project_slug: { description: 'The slug of the project', example: 'acme' },
  project_id: { description: 'The id of the project, as returned when it was created', example: PROJECT_ID },
  'projects/id': {
    description: 'The id of the project, as returned when it was created',
    example: PROJECT_ID,
  },
  bucket_name: { description: 'The slug of the bucket, or its name', example: 'team-photos' },
  file_id: { description: 'The id of the file', example: UUID_EXAMPLE },
  upload_id: { description: 'The id of the upload, from its Location', example: UUID_EXAMPLE },
  user_id: { description: 'The id of the user', example: UUID_EXAMPLE, format: 'uuid' },
  factor_id: {
    description: 'The id of a factor, from the list of factors',
    example: UUID_EXAMPLE,
    format: 'uuid',
  },
  provider_name: { description: 'The name of a provider of the project', example: 'google' },
  passkey_id: { description: 'The id of a passkey', example: UUID_EXAMPLE, format: 'uuid' },
  sso_provider_id: {
    description: 'The id of an identity provider of SAML',
    example: UUID_EXAMPLE,
    format: 'uuid',
  },
  client_id: { description: 'The id of an application', example: UUID_EXAMPLE, format: 'uuid' },
  authorization_id: { description: 'From the address of the page that asks', example: 'AW9vYmFy' },
  identity_id: { description: 'The id of an identity of the user', example: UUID_EXAMPLE, format: 'uuid' },
  session_id: {
    description: 'The id of a session, from the list of sessions',
    example: UUID_EXAMPLE,
    format: 'uuid',
  },
  mail_id: { description: 'The id of a mail, from the list of failed mails', example: UUID_EXAMPLE },
  access_key_id: { description: 'The id of an S3 key', example: `${PROJECT_ID}m4q8z1t6w2y9` },
  backup_id: { description: 'The id of the backup, from the list of backups', example: UUID_EXAMPLE },
  table: { description: 'The table with its schema', example: 'public.todos' },
  key_id: { description: 'The id of a named key', example: 'k3v9x0a1b2c3' },
  query_id: { description: 'The id of the query', example: UUID_EXAMPLE },
  advice_id: { description: 'The id of the advice', example: 'rls_off-4a5b0c3f9d2e1a77' },
  webhook_id: { description: 'The id of the webhook', example: UUID_EXAMPLE },
  schedule_id: { description: 'The id of the schedule', example: UUID_EXAMPLE },
  delivery_id: { description: 'The id of the delivery', example: UUID_EXAMPLE },
  pid: { description: 'The process id in PostgreSQL, from the activity', example: 4711, type: 'integer' },
  person_id: { description: 'The id of the staff member, or their email', example: UUID_EXAMPLE },
  'people/id': { description: 'The id of the staff member', example: UUID_EXAMPLE },
  'passkeys/id': { description: 'The id of the passkey', example: UUID_EXAMPLE },
  'invitations/id': { description: 'The id of the invitation', example: UUID_EXAMPLE },
  'tokens/id': { description: 'The id of the token', example: UUID_EXAMPLE },
  'sessions/id': { description: 'The id of the session', example: UUID_EXAMPLE },
  topic: { description: 'The name of the channel', example: 'room-1' },
  event: { description: 'The event that clients listen for', example: 'moved' },
  'servers/name': { description: 'Name of the server', example: 'db2' },
  'queues/name': { description: '`auth-mail`', example: 'auth-mail' },
};

/** @param path the path of a route: `admin/v1/projects/:id` @throws Error for a parameter that is not listed */
export function pathParameters(path: string): MethodDecorator[] {
  return [...path.matchAll(/([\w-]+)\/:(\w+)/g)].map(([, before, name = '']) => {
    const known = PATH_PARAMETERS[`${before}/${name}`] ?? PATH_PARAMETERS[name];
    if (!known) throw new Error(`the OpenAPI document does not describe the parameter ${name} of ${path}`);
    const { type = 'string', format, example, description } = known;
    return ApiParam({ name, description, schema: { type, ...(format ? { format } : {}), example } });
  });
}
