/** The catalog of a project's database, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../http/docs/example.decorator';
import { INT64, SIZE } from '../../http/docs/documented-types';

const KINDS = ['table', 'view', 'materialized view', 'foreign table'] as const;
const COMMANDS = ['ALL', 'SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
const TEXT_OR_NULL = { type: String, nullable: true } as const;

export class CatalogColumn {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ description: 'As PostgreSQL prints it: `character varying(20)`' }) readonly type!: string;
  @ApiProperty({ description: '`typcategory` of pg_type: `N` for numbers, `E` for enums' })
  readonly category!: string;
  @ApiProperty() readonly nullable!: boolean;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'The expression' }) readonly default!: string | null;
  @ApiProperty({ description: 'An identity or generated column that clients may not write' })
  readonly always!: boolean;
  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Labels of an enum, or of the enum of an array',
  })
  readonly labels!: readonly string[] | null;
  @ApiProperty(TEXT_OR_NULL) readonly comment!: string | null;
}

export class CatalogForeignKey {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ type: [String] }) readonly columns!: readonly string[];
  @ApiProperty({ description: 'Schema of the referenced table' }) readonly schema!: string;
  @ApiProperty({ description: 'The referenced table' }) readonly table!: string;
  @ApiProperty({ type: [String], description: 'Referenced columns, in the order of `columns`' })
  readonly targets!: readonly string[];
}

export class CatalogIndex {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ description: 'The statement that creates it' }) readonly definition!: string;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'The key or constraint that it belongs to' })
  readonly constraint!: string | null;
}

export class CatalogPolicy {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ enum: COMMANDS }) readonly command!: (typeof COMMANDS)[number];
  @ApiProperty() readonly permissive!: boolean;
  @ApiProperty({ type: [String] }) readonly roles!: readonly string[];
  @ApiProperty({ ...TEXT_OR_NULL, description: 'The expression' }) readonly using!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'The expression' }) readonly check!: string | null;
}

@Example({
  schema: 'public',
  name: 'notes',
  kind: 'table',
  comment: null,
  rows: 1200,
  bytes: 131072,
  rls: true,
  columns: [
    {
      name: 'id',
      type: 'bigint',
      category: 'N',
      nullable: false,
      default: null,
      always: true,
      labels: null,
      comment: null,
    },
  ],
  primary_key: ['id'],
  foreign_keys: [],
  indexes: [
    {
      name: 'notes_pkey',
      definition: 'CREATE UNIQUE INDEX notes_pkey ON public.notes USING btree (id)',
      constraint: 'notes_pkey',
    },
  ],
  policies: [
    {
      name: 'all may read',
      command: 'SELECT',
      permissive: true,
      roles: ['anon'],
      using: 'true',
      check: null,
    },
  ],
})
export class CatalogRelation {
  @ApiProperty() readonly schema!: string;
  @ApiProperty() readonly name!: string;
  @ApiProperty({ enum: KINDS }) readonly kind!: (typeof KINDS)[number];
  @ApiProperty(TEXT_OR_NULL) readonly comment!: string | null;
  @ApiProperty({ ...INT64, minimum: -1, description: 'Estimate of the planner; -1 before the first ANALYZE' })
  readonly rows!: number;
  @ApiProperty({ ...SIZE, description: 'With its indexes' }) readonly bytes!: number;
  @ApiProperty({ description: 'Row-level security is on' }) readonly rls!: boolean;
  @ApiProperty({ type: [CatalogColumn] }) readonly columns!: readonly CatalogColumn[];
  @ApiProperty({ type: [String] }) readonly primary_key!: readonly string[];
  @ApiProperty({ type: [CatalogForeignKey] }) readonly foreign_keys!: readonly CatalogForeignKey[];
  @ApiProperty({ type: [CatalogIndex] }) readonly indexes!: readonly CatalogIndex[];
  @ApiProperty({ type: [CatalogPolicy] }) readonly policies!: readonly CatalogPolicy[];
}
