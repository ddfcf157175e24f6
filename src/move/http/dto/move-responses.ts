/** The admin API's responses about moves of projects between servers. */
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

const MOVE_STATUSES = ['running', 'undoing', 'switched', 'done', 'failed'] as const;

export class MoveResponse extends model({
  from: f.nullable(
    f.text({ description: 'Null: the project has its own server (`database_url`)', example: 'platform' }),
  ),
  to: f.text({ example: 'db2' }),
  status: f.choice(MOVE_STATUSES, {
    description:
      '`running`, `undoing`: the project is on the old server. `switched`: it is on the new one, and the old database is being dropped',
    example: 'done',
  }),
  step: f.text({ description: 'The current step, as text to show', example: 'done' }),
  bytes_copied: f.size({
    description: "Bytes copied so far, in COPY's text format",
    example: 1048576,
  }),
  bytes_total: f.size({
    description: 'Size of tables with their indexes before the move',
    example: 2097152,
  }),
  writes_refused_ms: f.nullable(
    f.size({ description: 'Milliseconds for which writes were refused', example: 900 }),
  ),
  old_database_kept: f.flag({ example: false }),
  error: f.nullable(f.text('Why it failed; the project is where it was')),
  started_at: f.time(),
  finished_at: f.nullable(f.time()),
}) {}
