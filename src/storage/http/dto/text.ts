/**
 * Text in URLs that reaches the database. PostgreSQL would refuse NUL and unpaired surrogates with its own
 * error. JSON bodies are checked as a whole when they are parsed.
 */
import { Injectable, PipeTransform } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import { isStorableText } from '../../../common/text/storable';
import { invalidParameters } from '../../storage.errors';

const unstorable = (name: string): string => `${name} holds a NUL or half a surrogate pair`;

/** A query parameter that may occur once, with at most `max` characters. */
export const QueryText = (max: number): PropertyDecorator =>
  ValidateBy({
    name: 'queryText',
    validator: {
      validate: (value) => textFault('', value, max) === null,
      defaultMessage: (argument) => textFault(argument?.property ?? '', argument?.value, max) ?? '',
    },
  });

/** @returns the reason why the value of a query parameter is refused; null if it is valid */
function textFault(name: string, value: unknown, max: number): string | null {
  if (typeof value !== 'string') return `${name} must be given once`;
  if (value.length > max) return `${name} must not be longer than ${max} characters`;
  return isStorableText(value) ? null : unstorable(name);
}

/** The slug or name of a bucket in a path. @throws AppError 400 for text that no bucket can have */
export function bucketAddressOf(address: string): string {
  if (!isStorableText(address)) throw invalidParameters(unstorable("The bucket's name"));
  return address;
}

@Injectable()
export class BucketAddressPipe implements PipeTransform<string, string> {
  transform(address: string): string {
    return bucketAddressOf(address);
  }
}
