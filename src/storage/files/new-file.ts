/** The row of a file that an upload creates, from its form and its stored bytes. */
import { JsonObject } from '../../common/text/json';
import { parseCacheControl } from '../buckets/cache-control';
import {
  essenceOf,
  isAllowed,
  parseContentType,
  resolveContentType,
  UNKNOWN_TYPE,
} from '../content-type/content-type';
import { Evidence } from '../content-type/sniff';
import { ObjectAddress } from '../providers/object-store';
import { invalidParameters, unsupportedMediaType } from '../storage.errors';
import { ByteFacts } from './byte-meter';
import { StoredBytes } from './file';
import { UploadTarget } from './target.repository';
import { UploadForm, UploadParameter } from './upload';
import { assertFilename, parseMetadata } from './upload-rules';

export interface NewFile {
  /** The bucket as it was when the upload began. */
  readonly bucket: Pick<UploadTarget, 'bucketId' | 'bucketSlug'>;
  readonly filename: string;
  readonly metadata: JsonObject;
  readonly bytes: StoredBytes;
  /** Cache-Control of the file. Undefined: the bucket's Cache-Control applies. */
  readonly cacheControl?: string;
  /**
   * The address under which the bucket must still be found, without restrictions on files. Undefined: the
   * bucket may have changed.
   */
  readonly address?: string;
  /** The entity tag of the S3 protocol; undefined: derived from the hash. */
  readonly etag?: string;
  /** As scan_result of FileRecord. */
  readonly scanResult?: string;
  /** The object that the replaced file must have. Undefined: any object. */
  readonly replaces?: ObjectAddress;
}

/** Bytes that the provider has stored. */
export type StoredFacts = ByteFacts & { readonly address: ObjectAddress };

/** Reads a parameter from the query string, else from the fields of the form received so far. */
export type ParameterReader = (name: UploadParameter | 'cacheControl') => string | undefined;

/**
 * The row of a file whose form was read to its end.
 * @throws AppError 400 for an invalid parameter, 415 if the bucket does not accept the type
 */
export function newFileOf(
  bucket: UploadTarget,
  form: UploadForm,
  value: ParameterReader,
  { address, size, sha256, evidence }: StoredFacts,
): NewFile {
  const filename = value('filename') ?? form.filename;
  if (filename === null) throw invalidParameters('filename is missing, or not UTF-8');
  assertFilename(filename);
  const detected = contentTypeOf(evidence, value('contentType'), form.declaredType);
  const contentType = (form.asDeclared && declaredTypeOf(form)) || detected;
  if (!isAllowed(contentType, bucket.allowedMimeTypes)) throw unsupportedMediaType(contentType);
  const metadata = parseMetadata(value('metadata') ?? '{}');
  const cacheControl = form.asDeclared ? cacheControlOf(value('cacheControl')) : undefined;
  return {
    bucket,
    filename,
    metadata,
    cacheControl,
    etag: form.etag?.(),
    bytes: { address, size, sha256, contentType },
  };
}

/** Null for the type of unknown content, and for a malformed type. */
function declaredTypeOf({ declaredType }: UploadForm): string | null {
  const essence = declaredType === null ? null : lenient(declaredType);
  return essence === null || essence === UNKNOWN_TYPE ? null : parseContentType(String(declaredType));
}

/** A number of seconds, or directives. Other texts are ignored, because storage-js lets applications pass any text. */
function cacheControlOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  try {
    return parseCacheControl(/^\d+$/.test(given) ? `max-age=${given}` : given);
  } catch {
    return undefined;
  }
}

function contentTypeOf(evidence: Evidence, given: string | undefined, declared: string | null): string {
  const claim = given === undefined ? declared && lenient(declared) : parseContentType(given);
  return resolveContentType(evidence, claim);
}

/** Ignores a malformed Content-Type of the file part: it is not a parameter of the API. */
function lenient(declared: string): string | null {
  try {
    return essenceOf(parseContentType(declared));
  } catch {
    return null;
  }
}

/** False when the parameter is omitted. @throws AppError 400 for a text other than `true` and `false` */
export function isTrue(text = 'false'): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0' || text === '') return false;
  throw invalidParameters('upsert must be true or false');
}
