/** Response headers for the bytes of a file. */
import type { OutgoingHttpHeaders } from 'node:http';
import { contentDisposition, type Disposition } from '../../http/syntax/content-disposition';
import type { Validators } from '../../http/syntax/preconditions';
import { cacheControlFor, type ContentRoute } from '../buckets/cache-control';
import { essenceOf, isContentType } from '../content-type/content-type';
import { FileContent } from '../files/file';

/** How a route presents a file. */
export interface Presentation {
  /** Decides about caches. */
  readonly route: ContentRoute;
  /** Seconds until a signed URL expires. */
  readonly secondsLeft?: number;
  /** Shows the file, unless its type is active, and PDF only if true. Undefined: the file is an attachment. */
  readonly pdfInline?: boolean;
  /** Replaces the file's own name, unless it is empty. */
  readonly downloadName?: string;
  /** Replaces the hash as entity tag, with its quotes. */
  readonly etag?: (file: FileContent) => string;
  /** Replaces the default content type for browsers. */
  readonly type?: (file: FileContent) => string;
  /** Headers in addition to, or instead of, the headers below. */
  readonly headers?: (file: FileContent) => OutgoingHttpHeaders;
}

/**
 * Scripts of a file do not run in Plinth's origin or any other, the file loads nothing, and browsers do not
 * guess another type.
 */
const SANDBOX = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Referrer-Policy': 'no-referrer',
};

export function validatorsOf(file: FileContent, { etag }: Pick<Presentation, 'etag'>): Validators {
  return { etag: etag?.(file) ?? `"${file.sha256}"`, lastModified: file.updatedAt };
}

/** Headers of every response about the bytes of a file, including 304. */
export function contentHeaders(
  file: FileContent,
  { etag, lastModified }: Validators,
  { route, secondsLeft, pdfInline, downloadName, headers }: Presentation,
): OutgoingHttpHeaders {
  const disposition =
    pdfInline === undefined ? 'attachment' : previewDisposition(file.contentType, pdfInline);
  return {
    ETag: etag,
    'Last-Modified': new Date(lastModified).toUTCString(),
    'Accept-Ranges': 'bytes',
    'Cache-Control': cacheControlFor(route, file.bucket, secondsLeft),
    'Content-Disposition': contentDisposition(disposition, downloadName || file.filename),
    ...SANDBOX,
    ...headers?.(file),
  };
}

/**
 * The Content-Type header. Browsers would read text without a charset as windows-1252, which is hardly used
 * any longer. SQL of the project's owner may have written any text into the column.
 */
export function servedType({ contentType }: FileContent): string {
  if (!isContentType(contentType)) return 'application/octet-stream';
  const lacksCharset = contentType.startsWith('text/') && essenceOf(contentType) === contentType;
  return lacksCharset ? `${contentType}; charset=utf-8` : contentType;
}

/** Content types that a browser would execute, or pass to a plugin, on display. A preview sends these as attachments. */
const ACTIVE = new Set([
  'text/html',
  'application/xhtml+xml',
  'text/xml',
  'application/xml',
  'text/xsl',
  'multipart/related',
  'multipart/x-mixed-replace',
  'message/rfc822',
  'application/x-mimearchive',
  'application/x-shockwave-flash',
  'application/java-archive',
]);

const PDF = 'application/pdf';

/**
 * @param pdfInline the project's setting `preview_pdf_inline`; the viewer of a browser runs scripts of a PDF
 * outside the origin, or not at all
 */
function previewDisposition(contentType: string, pdfInline: boolean): Disposition {
  const essence = essenceOf(contentType);
  if (essence === PDF) return pdfInline ? 'inline' : 'attachment';
  return ACTIVE.has(essence) || essence.endsWith('+xml') ? 'attachment' : 'inline';
}
