/** Query string of the slow statements of a project. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { WholeNumber } from '../../../http/input/whole-number';
import { SLOW_ORDERS, SlowOrder } from '../../activity/slow-queries.repository';

export class ListSlowQueriesQuery {
  @ApiPropertyOptional({ enum: SLOW_ORDERS, description: 'The largest first; default: total' })
  @IsOptional()
  @IsIn(SLOW_ORDERS)
  order?: SlowOrder;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 200, description: 'Default: 50' })
  @IsOptional()
  @WholeNumber(1, 200)
  limit?: number;
}
