/** Bodies of moves of projects between servers. */
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

export class MoveProjectDto extends model({
  server: f.text({ example: 'db2', description: 'Name of a server, whatever its status and capacity' }),
  read_only_window: f.optional(
    f.flag('Writes may be refused for as long as the copy takes, also for more than five seconds'),
  ),
  keep: f.optional(f.flag('Keep the old database on its server; it accepts no connections')),
}) {}
