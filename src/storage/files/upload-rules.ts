/** Rules for every file that enters a bucket by upload, copy or move: its name, metadata, size and type. */
import { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { DatabaseFault } from '../../common/errors/database-fault';
import { isJsonObject, JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { StorageConfig } from '../../config/app-config';
import { answerToFault } from '../../http/errors/fault-answers';
import { Project } from '../../projects/project';
import { commonTypes, isAllowed, parseContentType } from '../content-type/content-type';
import { Evidence } from '../content-type/sniff';
import { assertRoomForFile, ByteLimit, roomIn } from '../quotas/quota';
import { invalidParameters, fileTooLarge, unsupportedMediaType } from '../storage.errors';
import { FileContent } from './file';
import { UploadTarget } from './target.repository';
import { AnnouncedUpload, UploadParameters, UploadRestriction } from './upload';

/**
 * Maximum bytes of a name in UTF-8. Names are any Unicode text, with `/` as separator. They
 * never become part of a path on disk.
 */
const MAX_NAME_BYTES = 1_024;
const CONTROL = /\p{Cc}/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** @throws AppError 400 with the reason */
export function assertFilename(name: string): void {
  const fault = faultOf(name);
  if (fault) throw invalidParameters(`filename ${fault}`);
}

function faultOf(name: string): string | null {
  if (name === '') return 'must not be empty';
  if (LONE_SURROGATE.test(name)) return 'must be valid Unicode';
  if (CONTROL.test(name)) return 'must not contain control characters';
  if (name.split('/').some((segment) => segment === '.' || segment === '..')) {
    return 'must not contain the segments . and ..';
  }
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `must not be longer than ${MAX_NAME_BYTES} bytes`;
  return null;
}

/** Maximum bytes of metadata, a small JSON object, as JSON text. Numbers with an exponent count in full digits. */
const MAX_METADATA_BYTES = 16 * 1024;

const EXPONENT = /e([+-]\d+)$/;

/** @throws AppError 400 for text that is not a JSON object, or is too large */
export function parseMetadata(text: string): JsonObject {
  if (Buffer.byteLength(text) > MAX_METADATA_BYTES) throw tooLong();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidParameters('metadata must be a JSON object', error);
  }
  return assertMetadata(value);
}

/** Returns the value. @throws AppError 400 for a value that is not an object, or is too large */
export function assertMetadata(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw invalidParameters('metadata must be a JSON object');
  const fault = storageFault('metadata', value);
  if (fault !== null) throw invalidParameters(fault);
  if (printedBytes(value) > MAX_METADATA_BYTES) throw tooLong();
  return value;
}

/** PostgreSQL prints 1e300 with 300 zeros, so lists of files would be fifty times as long as the uploads. */
function printedBytes(value: JsonObject): number {
  let digits = 0;
  const text = JSON.stringify(value, (_name, member: unknown) => {
    const [, exponent = '0'] = typeof member === 'number' ? (EXPONENT.exec(String(member)) ?? []) : [];
    digits += Math.abs(Number(exponent));
    return member;
  });
  return Buffer.byteLength(text) + digits;
}

const tooLong = (): Error =>
  invalidParameters(`metadata must not be longer than ${MAX_METADATA_BYTES} bytes`);

/** The maximum bytes of a file: the lowest limit of bucket, project and installation. */
export function limitOf(
  { settings }: Project,
  { fileSizeLimit }: Pick<UploadTarget, 'fileSizeLimit'>,
  { maxFileBytes }: StorageConfig,
): number {
  return Math.min(fileSizeLimit ?? Infinity, settings.max_file_size ?? Infinity, maxFileBytes);
}

/** The bucket, with its limits narrowed to the restriction. */
export function restricted(
  target: UploadTarget,
  { fileSizeLimit, allowedMimeTypes }: UploadRestriction,
): UploadTarget {
  const limit = Math.min(target.fileSizeLimit ?? Infinity, fileSizeLimit ?? Infinity);
  return {
    ...target,
    fileSizeLimit: limit === Infinity ? null : limit,
    allowedMimeTypes: commonTypes(target.allowedMimeTypes, allowedMimeTypes),
  };
}

/** @throws AppError 413 or 415 if the bucket does not accept the size or the type of the file */
export function assertAccepted(
  { allowedMimeTypes }: Pick<UploadTarget, 'allowedMimeTypes'>,
  { size, contentType }: Pick<FileContent, 'size' | 'contentType'>,
  limit: number,
): void {
  if (size > limit) throw fileTooLarge(limit);
  if (!isAllowed(contentType, allowedMimeTypes)) throw unsupportedMediaType(contentType);
}

/** Maximum bytes of a form in addition to its file. */
const FORM_OVERHEAD = 64 * 1024;

/** @throws AppError 400 for an invalid filename or content type */
export function assertGiven({ filename, contentType }: UploadParameters): void {
  if (filename !== undefined) assertFilename(filename);
  if (contentType !== undefined) parseContentType(contentType);
}

/**
 * Refuses a form by its Content-Length, before it is read.
 * @throws AppError 413 when no file in a form of that length could be accepted
 */
export function assertAnnounced(
  { announcedLength, given }: AnnouncedUpload,
  limit: number,
  target: UploadTarget,
): void {
  if (given.upsert === 'false') assertRoomForFile(target.accounts);
  if (announcedLength === null) return;
  if (announcedLength > limit + FORM_OVERHEAD) throw fileTooLarge(limit);
  const room = roomIn(target.accounts, given.upsert === 'false' ? 0 : target.largestFile);
  if (room && announcedLength > room.bytes + FORM_OVERHEAD) throw room.exceeded();
}

/** @param overwrites whether upsert was set before the file's bytes @throws AppError 413 when a quota has no room for another file */
export function limitFor(
  { accounts, largestFile }: UploadTarget,
  size: number,
  overwrites: boolean,
): ByteLimit {
  if (!overwrites) assertRoomForFile(accounts);
  const room = roomIn(accounts, overwrites ? largestFile : 0);
  return room && room.bytes < size ? room : { bytes: size, exceeded: () => fileTooLarge(size) };
}

/** Refuses a file whose first bytes prove that the bucket does not accept its type. @throws AppError 415 for such a file */
export function refuseEarly(evidence: Evidence, { allowedMimeTypes }: UploadTarget): void {
  if (evidence.kind === 'certain' && !isAllowed(evidence.type, allowedMimeTypes))
    throw unsupportedMediaType(evidence.type);
}

/**
 * True when an error proves that the row was not committed, so that its bytes can be removed immediately.
 * After a lost connection the outcome is unknown and the row may need its bytes: the sweep decides later.
 */
export function isDefinite(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.severity === 'ERROR';
  if (error instanceof DatabaseFault) return isDefinite(answerToFault(error));
  return error instanceof AppError && (error.status < 500 || isDefinite(error.cause));
}
