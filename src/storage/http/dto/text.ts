/** Text of an address that reaches the database, which would refuse it in words of its own. Bodies are checked as a whole. */
import { Injectable, PipeTransform } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import { isStorableText } from '../../../common/text/storable';
import { invalidParameters } from '../../storage.errors';

const fault = (name: string): string => `${name} holds a NUL or half a surrogate pair`;

/** One parameter of a query string, not longer than `max` characters. */
export const QueryText = (max: number): PropertyDecorator =>
  ValidateBy({
    name: 'queryText',
    validator: {
      validate: (value) => typeof value === 'string' && value.length <= max && isStorableText(value),
      defaultMessage: (argument) => {
        const [name, value] = [argument?.property ?? '', argument?.value as unknown];
        if (typeof value !== 'string') return `${name} must be given once`;
        return value.length > max ? `${name} must not be longer than ${max} characters` : fault(name);
      },
    },
  });

/** The bucket of a path, by slug or name. */
@Injectable()
export class BucketAddressPipe implements PipeTransform<string, string> {
  transform(address: string): string {
    if (!isStorableText(address)) throw invalidParameters(fault("The bucket's name"));
    return address;
  }
}
