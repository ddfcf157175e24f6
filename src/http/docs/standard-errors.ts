/** Errors that many operations of the OpenAPI document share. */
import { noMemoryForBody } from '../../admission/memory-budget';
import { databaseUnreachable, internalError } from '../../common/errors/app-error';
import {
  bodyIsEncoded,
  bodyNotJson,
  bodyTooLarge,
  bodyTooSlow,
  mediaTypeNotJson,
} from '../bodies/body.errors';
import { MAX_JSON_BODY } from '../bodies/body-reader';
import type { ErrorList } from './error-docs';

export const SERVER_ERRORS: ErrorList = [internalError(), databaseUnreachable()];

export const JSON_BODY_ERRORS: ErrorList = [
  bodyNotJson(),
  bodyTooSlow(),
  bodyTooLarge(MAX_JSON_BODY),
  mediaTypeNotJson(),
  bodyIsEncoded('gzip'),
  noMemoryForBody(),
];
