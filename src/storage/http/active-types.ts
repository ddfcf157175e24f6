/** Content types that a browser would execute, or pass to a plugin, on display. A preview sends these as attachments. */
import type { Disposition } from '../../http/syntax/content-disposition';
import { essenceOf } from '../content-type/content-type';

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
export function previewDisposition(contentType: string, pdfInline: boolean): Disposition {
  const essence = essenceOf(contentType);
  if (essence === PDF) return pdfInline ? 'inline' : 'attachment';
  return ACTIVE.has(essence) || essence.endsWith('+xml') ? 'attachment' : 'inline';
}
