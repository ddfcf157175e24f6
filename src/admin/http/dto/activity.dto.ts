/** Query string of the slow statements of a project. */
import { SLOW_ORDERS } from '../../activity/slow-queries.repository';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

export class ListSlowQueriesQuery extends model({
  order: f.optional(f.choice(SLOW_ORDERS, 'The largest first; default: total')),
  limit: f.optional(f.digits(1, 200, 'Default: 50')),
}) {}
