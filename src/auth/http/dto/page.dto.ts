/** The query parameters of a page of a list. */
import { WholeNumber } from '../../../http/input/whole-number';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

const PER_PAGE = 50;
const MAX_PAGE = 1_000_000;

export class PageQuery {
  @OptionalProperty({ description: 'Default: 1' })
  @WholeNumber(1, MAX_PAGE)
  page?: number;

  @OptionalProperty({ description: `Default: ${PER_PAGE}` })
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
