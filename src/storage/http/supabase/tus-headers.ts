/** The headers of TUS 1.0 (https://tus.io/protocols/resumable-upload). */
import type { Request, Response } from 'express';
import { AppError } from '../../../common/errors/app-error';
import { ResumableUpload } from '../../resumable/resumable-upload';
import { ReceivedBytes } from '../../resumable/upload-writer.service';
import { invalidParameters, unsupportedMediaType } from '../../storage.errors';

export const TUS_VERSION = '1.0.0';
const DIGEST_BYTES: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, md5: 16 };
const BODY_TYPE = 'application/offset+octet-stream';
const NUMBER = /^\d{1,15}$/;
const CHECKSUM = /^([a-z0-9]+) ([A-Za-z0-9+/]+={0,2})$/;

export const CAPABILITIES: Readonly<Record<string, string>> = {
  'Tus-Resumable': TUS_VERSION,
  'Tus-Version': TUS_VERSION,
  'Tus-Extension': 'creation,creation-with-upload,expiration,termination,checksum,concatenation',
  'Tus-Checksum-Algorithm': Object.keys(DIGEST_BYTES).join(),
};

/** The error for a client of another version. */
export const wrongTusVersion = (): AppError =>
  new AppError(412, 'precondition_failed', `Tus-Resumable must be ${TUS_VERSION}`, {
    headers: { 'Tus-Version': TUS_VERSION },
  });

/** @throws AppError 412 for another version */
export function assertTus(request: Request): void {
  if (request.get('tus-resumable') !== TUS_VERSION) throw wrongTusVersion();
}

/** @throws AppError 400 if the header is missing or not a number */
export function byteCount(request: Request, header: 'Upload-Length' | 'Upload-Offset'): number {
  const text = request.get(header) ?? '';
  if (!NUMBER.test(text)) throw invalidParameters(`${header} must be a number of bytes`);
  return Number(text);
}

/** True for a request with bytes of the file. */
export const hasBytes = (request: Request): boolean => request.get('content-type') === BODY_TYPE;

/** @throws AppError 415 for another content type */
export function assertBytes(request: Request): void {
  if (!hasBytes(request)) throw unsupportedMediaType(request.get('content-type') ?? 'unknown');
}

/** @throws AppError 400 for a malformed or unsupported checksum */
export function checksumOf(request: Request): ReceivedBytes['checksum'] {
  const header = request.get('upload-checksum');
  if (header === undefined) return null;
  const [, algorithm = '', text = ''] = CHECKSUM.exec(header) ?? [];
  const digest = Buffer.from(text, 'base64');
  if (!Object.hasOwn(DIGEST_BYTES, algorithm) || digest.length !== DIGEST_BYTES[algorithm])
    throw invalidParameters('Upload-Checksum must be sha1, sha256 or md5, and the digest in base64');
  return { algorithm, digest };
}

/** `partial`, or the ids of the uploads to join; null for an ordinary upload. @throws AppError 400 for a malformed header */
export function concatOf(request: Request): 'partial' | readonly string[] | null {
  const header = request.get('upload-concat');
  if (header === undefined) return null;
  if (header === 'partial') return header;
  if (!header.startsWith('final;'))
    throw invalidParameters('Upload-Concat must be partial, or final; and URLs');
  const urls = header.slice('final;'.length).trim().split(/\s+/);
  return urls.map((url) => url.slice(url.lastIndexOf('/') + 1));
}

export function setUploadHeaders(response: Response, upload: ResumableUpload): void {
  response.set({
    'Tus-Resumable': TUS_VERSION,
    'Upload-Offset': String(upload.received),
    'Upload-Expires': upload.expiresAt.toUTCString(),
    'Cache-Control': 'no-store',
  });
}

/** Sets the headers that only responses to HEAD have. */
export function setStateHeaders(response: Response, upload: ResumableUpload): void {
  response.set('Upload-Length', String(upload.length));
  if (upload.uploadMetadata !== '') response.set('Upload-Metadata', upload.uploadMetadata);
  if (upload.concat !== null) response.set('Upload-Concat', upload.concat);
}
