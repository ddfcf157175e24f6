/** Errors of the S3 protocol that storage itself does not have, with the codes of S3. */
import { AppError } from '../../../common/errors/app-error';

export const s3Error = (status: number, code: string, message: string, cause?: unknown): AppError =>
  new AppError(status, code, message, { cause });

export const accessDenied = (message = 'Access denied'): AppError => s3Error(403, 'AccessDenied', message);

export const unknownKey = (): AppError =>
  s3Error(403, 'InvalidAccessKeyId', 'There is no such access key, or it is one of another project');

export const signatureMismatch = (): AppError =>
  s3Error(
    403,
    'SignatureDoesNotMatch',
    'The signature is not that of this request: check the secret, and that proxies keep Host and path',
  );

export const malformedSignature = (): AppError =>
  s3Error(400, 'AuthorizationHeaderMalformed', 'The signature must use AWS4-HMAC-SHA256, for s3');

export const skewedTime = (): AppError =>
  s3Error(403, 'RequestTimeTooSkewed', 'The time of the request differs too much from that of the server');

export const invalidToken = (): AppError =>
  s3Error(400, 'InvalidToken', 'The session token is not a valid access token of the project');

export const invalidArgument = (message: string): AppError => s3Error(400, 'InvalidArgument', message);

export const invalidRequest = (message: string): AppError => s3Error(400, 'InvalidRequest', message);

export const malformedXml = (cause?: unknown): AppError =>
  s3Error(400, 'MalformedXML', 'The body is not the XML document of this operation', cause);

export const notImplemented = (what: string): AppError =>
  s3Error(501, 'NotImplemented', `${what} is not implemented`);

export const badDigest = (): AppError =>
  s3Error(400, 'BadDigest', 'The bytes do not have the digest or checksum of the request');

export const contentMismatch = (): AppError =>
  s3Error(400, 'XAmzContentSHA256Mismatch', 'The bytes do not have the signed SHA-256');

export const incompleteBody = (): AppError =>
  s3Error(400, 'IncompleteBody', 'The body has more or fewer bytes than announced, or malformed chunks');

export const noSuchUpload = (): AppError =>
  s3Error(404, 'NoSuchUpload', 'There is no such upload: it was completed, aborted, or has expired');
