/** Query string of the list of mails that were given up. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { WholeNumber } from '../../../http/input/whole-number';

export class ListFailedMailsQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 1_000, description: 'Default: 100' })
  @IsOptional()
  @WholeNumber(1, 1_000)
  limit?: number;
}
