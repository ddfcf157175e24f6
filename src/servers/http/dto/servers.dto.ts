/** Bodies of the administration of servers. */
import { Matches } from 'class-validator';
import * as f from '../../../http/model/fields';
import { SERVER_STATUSES } from './server-responses';

const CAPACITY = {
  minimum: 0,
  maximum: 100_000,
  description: 'Number of projects at which no new ones are placed here',
} as const;
const URL_SCHEMA = {
  description: 'Connection URL, as a role with CREATEDB and CREATEROLE; stored encrypted, never returned',
  example: 'postgres://plinth:secret@db2.example.com/postgres',
  checks: [Matches(/^postgres(ql)?:\/\/[^\s]+$/, { message: 'url must begin with postgres://' })],
} as const;
const HOST_FORM = /^(\[[0-9a-f:.%]+\]|[a-z0-9._-]{1,253})(:\d{1,5})?$/i;

const HOSTS = {
  replicas: f.optional.texts(
    'Standbys of this server that serve reads of table REST, each as `host` or `host:port`. The role and password of the URL are used.',
    {
      maxItems: 16,
      example: ['db2-replica.example.com:5432'],
      checks: [
        Matches(HOST_FORM, {
          each: true,
          message: 'replicas must be a list of hosts, each as host or host:port',
        }),
      ],
    },
  ),
  pooler: f.optional(
    f.nullable.text(
      'A PgBouncer in transaction mode, as `host` or `host:port`: requests reach the server through it, administration and notifications do not. null: none',
      {
        example: 'pgbouncer.example.com:6432',
        checks: [Matches(HOST_FORM, { message: 'pooler must be host or host:port' })],
      },
    ),
  ),
};

@f.Example({ name: 'db2', url: 'postgres://plinth:secret@db2.example.com/postgres', capacity: 1000 })
export class AddServerDto extends f.model({
  name: f.text({
    example: 'db2',
    pattern: '^[a-z][a-z0-9-]{0,38}[a-z0-9]$',
    checks: [
      Matches(/^[a-z][a-z0-9-]{0,38}[a-z0-9]$/, {
        message: 'name must be 2 to 40 lower-case letters, digits and hyphens, beginning with a letter',
      }),
    ],
  }),
  url: f.text(URL_SCHEMA),
  capacity: f.optional.whole(`${CAPACITY.description}; default: 1000`, { ...CAPACITY }),
  ...HOSTS,
}) {}

@f.Example({ status: 'draining' })
export class UpdateServerDto extends f.model({
  status: f.optional.choice(SERVER_STATUSES, 'A draining one gets no new projects'),
  capacity: f.optional.whole(CAPACITY),
  url: f.optional.text(`${URL_SCHEMA.description}. Its projects use it at once`, { ...URL_SCHEMA }),
  ...HOSTS,
}) {}
