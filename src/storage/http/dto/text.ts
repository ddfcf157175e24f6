/** Text of an address that reaches the database, which would refuse it in words of its own. Bodies are checked as a whole. */
import { Injectable, PipeTransform } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import { isStorableText } from '../../../common/text/storable';
import { invalidParameters } from '../../storage.errors';

const fault = (name: string): string => `${name} holds a NUL or half a surrogate pair`;

/** Why a parameter of a query string is no text of at most `max` characters; null when it is. */
export function textFault(name: string, value: unknown, max: number): string | null {
  if (typeof value !== 'string') return `${name} must be given once`;
  if (value.length > max) return `${name} must not be longer than ${max} characters`;
  return isStorableText(value) ? null : fault(name);
}

/** One parameter of a query string, not longer than `max` characters. */
export const QueryText = (max: number): PropertyDecorator =>
  ValidateBy({
    name: 'queryText',
    validator: {
      validate: (value) => textFault('', value, max) === null,
      defaultMessage: (argument) => textFault(argument?.property ?? '', argument?.value, max) ?? '',
    },
  });

/** The bucket of a path, by slug or name. @throws AppError 400 */
export function bucketAddressOf(address: string): string {
  if (!isStorableText(address)) throw invalidParameters(fault("The bucket's name"));
  return address;
}

/** The same for a parameter of Nest's. */
@Injectable()
export class BucketAddressPipe implements PipeTransform<string, string> {
  transform(address: string): string {
    return bucketAddressOf(address);
  }
}
