/** Query string of the samples of a project. */
import { IsIn } from 'class-validator';
import { SampleRange } from '../../samples/sample.repository';
import { RANGES } from './request-responses';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

export class ListSamplesQuery {
  @OptionalProperty({ enum: RANGES, description: 'Default: hour' })
  @IsIn(RANGES)
  range?: SampleRange;
}
