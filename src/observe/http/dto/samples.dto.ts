/** Query string of the samples of a project. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { SampleRange } from '../../samples/sample.repository';
import { RANGES } from './request-responses';

export class ListSamplesQuery {
  @ApiPropertyOptional({ enum: RANGES, description: 'Default: hour' })
  @IsOptional()
  @IsIn(RANGES)
  range?: SampleRange;
}
