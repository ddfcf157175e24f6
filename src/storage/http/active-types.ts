/** Types that a browser executes, or hands to a plugin, when it shows them: a preview offers these for saving instead. */
import type { Disposition } from '../../common/http/content-disposition';
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

/** @param pdfInline the project's setting: scripts of a PDF run, if at all, in the browser's viewer, apart from the origin */
export function previewDisposition(contentType: string, pdfInline: boolean): Disposition {
  const essence = essenceOf(contentType);
  if (essence === PDF) return pdfInline ? 'inline' : 'attachment';
  return ACTIVE.has(essence) || essence.endsWith('+xml') ? 'attachment' : 'inline';
}
