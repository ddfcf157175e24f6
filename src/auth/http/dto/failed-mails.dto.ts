/** Query string of the list of mails that were given up. */
import { WholeNumber } from '../../../http/input/whole-number';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

export class ListFailedMailsQuery {
  @OptionalProperty({ description: 'Default: 100' })
  @WholeNumber(1, 1_000)
  limit?: number;
}
