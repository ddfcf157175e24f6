/** The bucket and the name of a file in the paths of storage-js: `object/<bucket>/<name, which may contain slashes>`. */
import { ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { isStorableText } from '../../../common/text/storable';
import { FileAddress } from '../../files/named-files.service';
import { fileNotFound } from '../../storage.errors';
import { bucketAddressOf } from '../dto/text';

/** The part of a route that objectOf() reads. */
export const OBJECT = ':bucket_name/*path';

/** @throws AppError 400, 404 for text that no file can have */
export function objectOf({ params }: Request): FileAddress {
  const filename = [params.path].flat().join('/');
  if (!isStorableText(filename)) throw fileNotFound();
  return { bucket: bucketAddressOf(String(params.bucket_name)), filename };
}

export const ObjectPath = (): MethodDecorator =>
  ApiParam({
    name: 'path',
    description: 'The name of the file in its bucket; may hold slashes',
    schema: { type: 'string', example: 'reports/2026.txt' },
  });

/** `bucket/name`, not encoded: storage-js encodes the URLs that it receives. */
export const urlPathOf = ({ bucket, filename }: FileAddress): string => `${bucket}/${filename}`;
