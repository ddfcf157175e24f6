/** The query parameters of a page of a list. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { WholeNumber } from '../../../http/input/whole-number';

const PER_PAGE = 50;
const MAX_PAGE = 1_000_000;

export class PageQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_PAGE, description: 'Default: 1' })
  @IsOptional()
  @WholeNumber(1, MAX_PAGE)
  page?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    description: `Default: ${PER_PAGE}`,
  })
  @IsOptional()
  @WholeNumber(1, 1_000)
  per_page?: number;
}

export function pageOf({ page = 1, per_page: perPage = PER_PAGE }: PageQuery): {
  limit: number;
  offset: number;
} {
  const limit = Number(perPage);
  return { limit, offset: (Number(page) - 1) * limit };
}
