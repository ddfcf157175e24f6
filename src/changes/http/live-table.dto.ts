/** Live tables, as types and as OpenAPI schemas. */
import { Example } from '../../http/docs/example.decorator';
import * as f from '../../http/model/fields';
import { model } from '../../http/model/model';

/** Bytes of a name in PostgreSQL. */
const NAME_LENGTH = 63;
const SCHEMA = { example: 'public', minLength: 1, maxLength: NAME_LENGTH } as const;
const TABLE = { example: 'orders', minLength: 1, maxLength: NAME_LENGTH } as const;
const LIVE = { description: 'Whether clients that may read its rows can follow their changes' } as const;

@Example({ schema: SCHEMA.example, table: TABLE.example, live: true })
export class ChangeLiveTableDto extends model({
  schema: f.text({ min: 1, max: NAME_LENGTH, ...SCHEMA }),
  table: f.text({ min: 1, max: NAME_LENGTH, ...TABLE }),
  live: f.flag(LIVE),
}) {}

@Example({ schema: SCHEMA.example, table: TABLE.example, live: true, can_be_live: true })
export class LiveTable extends model({
  schema: f.text(),
  table: f.text(),
  live: f.flag(LIVE),
  can_be_live: f.flag('False without a primary key or another replica identity'),
}) {}
