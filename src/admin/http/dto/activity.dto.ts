/** Query string of the slow statements of a project. */
import { IsIn } from 'class-validator';
import { WholeNumber } from '../../../http/input/whole-number';
import { SLOW_ORDERS, SlowOrder } from '../../activity/slow-queries.repository';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

export class ListSlowQueriesQuery {
  @OptionalProperty({ enum: SLOW_ORDERS, description: 'The largest first; default: total' })
  @IsIn(SLOW_ORDERS)
  order?: SlowOrder;

  @OptionalProperty({ description: 'Default: 50' })
  @WholeNumber(1, 200)
  limit?: number;
}
