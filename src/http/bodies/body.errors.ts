/** Errors about request bodies, the same in every area. */
import { AppError, httpError } from '../../common/errors/app-error';

export const bodyNotAnObject = (): AppError => httpError(400, 'The body must be a JSON object');

export const bodyNotJson = (cause?: unknown): AppError => httpError(400, 'The body is not valid JSON', cause);

export const bodyEndedEarly = (cause?: unknown): AppError => httpError(400, 'The body ended early', cause);

export const bodyTooSlow = (): AppError => httpError(408, 'The body did not arrive in time');

/** @param limit bytes */
export const bodyTooLarge = (limit: number): AppError =>
  httpError(413, `The body is larger than ${limit} bytes`);

/** @param limit elements and members */
export const bodyHasTooManyValues = (limit: number): AppError =>
  httpError(400, `The body has more than ${limit} values`);

export const bodyTooLargeToCheck = (): AppError =>
  httpError(400, 'The body has more elements or members than any valid one');

export const mediaTypeNotJson = (): AppError => httpError(415, 'The body must be application/json');

/** The answer's Accept-Encoding says what is accepted (RFC 9110, 15.5.16). */
export const bodyIsEncoded = (coding: string): AppError =>
  new AppError(
    415,
    'unsupported_media_type',
    `A body with Content-Encoding ${coding} is not read here: send it without one`,
    { headers: { 'Accept-Encoding': 'identity' }, database: { sqlstate: 'PL415' } },
  );
