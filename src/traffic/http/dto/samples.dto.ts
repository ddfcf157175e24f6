/** Query string of the samples of a project. */
import { RANGES } from './request-responses';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

export class ListSamplesQuery extends model({
  range: f.optional(f.choice(RANGES, 'Default: hour')),
}) {}
