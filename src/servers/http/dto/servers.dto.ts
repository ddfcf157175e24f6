/** Bodies of the administration of servers. */
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { Example } from '../../../http/docs/example.decorator';
import { SERVER_STATUSES } from './server-responses';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

const URL_FORM = /^postgres(ql)?:\/\/[^\s]+$/;
const URL_MESSAGE = 'url must begin with postgres://';
const MAX_PROJECTS = 100_000;
const CAPACITY = {
  type: 'integer',
  minimum: 0,
  maximum: MAX_PROJECTS,
  description: 'Number of projects at which no new ones are placed here',
} as const;
const URL_SCHEMA = {
  description: 'Connection URL, as a role with CREATEDB and CREATEROLE; stored encrypted, never returned',
  example: 'postgres://plinth:secret@db2.example.com/postgres',
} as const;

const HOST_FORM = /^(\[[0-9a-f:.%]+\]|[a-z0-9._-]{1,253})(:\d{1,5})?$/i;
const MAX_REPLICAS = 16;
const REPLICAS = {
  type: String,
  isArray: true,
  maxItems: MAX_REPLICAS,
  description:
    'Standbys of this server that serve reads of table REST, each as `host` or `host:port`. The role and password of the URL are used.',
  example: ['db2-replica.example.com:5432'],
} as const;

/** Standbys, each as `host` or `host:port`. */
const Replicas = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional(REPLICAS),
    IsOptional(),
    IsArray(),
    ArrayMaxSize(MAX_REPLICAS),
    Matches(HOST_FORM, {
      each: true,
      message: 'replicas must be a list of hosts, each as host or host:port',
    }),
  );

/** A PgBouncer, as `host` or `host:port`. */
const Pooler = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      nullable: true,
      description:
        'A PgBouncer in transaction mode, as `host` or `host:port`: requests reach the server through it, administration and notifications do not. null: none',
      example: 'pgbouncer.example.com:6432',
    }),
    IsOptional(),
    Matches(HOST_FORM, { message: 'pooler must be host or host:port' }),
  );

@Example({ name: 'db2', url: 'postgres://plinth:secret@db2.example.com/postgres', capacity: 1000 })
export class AddServerDto {
  @ApiProperty({ example: 'db2', pattern: '^[a-z][a-z0-9-]{0,38}[a-z0-9]$' })
  @IsString()
  @Matches(/^[a-z][a-z0-9-]{0,38}[a-z0-9]$/, {
    message: 'name must be 2 to 40 lower-case letters, digits and hyphens, beginning with a letter',
  })
  name!: string;

  @ApiProperty(URL_SCHEMA)
  @Matches(URL_FORM, { message: URL_MESSAGE })
  url!: string;

  @OptionalProperty({ ...CAPACITY, description: `${CAPACITY.description}; default: 1000` })
  @IsInt()
  @Min(0)
  @Max(MAX_PROJECTS)
  capacity?: number;

  @Replicas()
  replicas?: string[];

  @Pooler()
  pooler?: string | null;
}

@Example({ status: 'draining' })
export class UpdateServerDto {
  @OptionalProperty({ enum: SERVER_STATUSES, description: 'A draining one gets no new projects' })
  @IsIn(SERVER_STATUSES)
  status?: (typeof SERVER_STATUSES)[number];

  @OptionalProperty(CAPACITY)
  @IsInt()
  @Min(0)
  @Max(MAX_PROJECTS)
  capacity?: number;

  @OptionalProperty({
    ...URL_SCHEMA,
    description: `${URL_SCHEMA.description}. Its projects use it at once`,
  })
  @Matches(URL_FORM, { message: URL_MESSAGE })
  url?: string;

  @Replicas()
  replicas?: string[];

  @Pooler()
  pooler?: string | null;
}
