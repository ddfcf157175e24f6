/** The admin API's responses about servers for projects' databases. */
import * as f from '../../../http/model/fields';

export const SERVER_STATUSES = ['open', 'draining'] as const;

@f.Example({ host: 'db2-replica.example.com', port: 5432, reachable: true, fault: null })
class ReplicaResponse extends f.model({
  host: f.text(),
  port: f.whole({ minimum: 1, maximum: 65_535 }),
  reachable: f.flag('It answers and is a standby'),
  fault: f.nullable.text('Why it is not read'),
}) {}

export class DatabaseServerResponse extends f.model({
  name: f.text('`platform` is the server of the platform database', { example: 'db2' }),
  host: f.text({ example: 'db2.example.com' }),
  port: f.whole({ minimum: 1, maximum: 65_535, example: 5432 }),
  status: f.choice(SERVER_STATUSES, 'A draining one gets no new projects', { example: 'open' }),
  capacity: f.size('Number of projects at which no new ones are placed here', { example: 1000 }),
  projects: f.size('Projects whose database is here', { example: 42 }),
  reachable: f.flag(),
  fault: f.nullable.text('Why it cannot be reached'),
  replicas: f.list(ReplicaResponse, 'Standbys that serve reads', {
    example: [{ host: 'db2-replica.example.com', port: 5432, reachable: true, fault: null }],
  }),
  pooler: f.nullable.text('PgBouncer through which requests reach the server'),
  created_at: f.time(),
}) {}

export class RemovedServer extends f.model({
  name: f.text({ example: 'db2' }),
  removed: f.flag(),
}) {}
